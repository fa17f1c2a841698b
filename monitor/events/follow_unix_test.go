//go:build unix

package events

import (
	"os"
	"testing"
)

// Windows keeps a directory that is watched, or tells nothing when it goes.
func TestFollowThroughRemovalsOfTheDirectory(t *testing.T) {
	parent := t.TempDir()
	dir := in(in(parent, "a"), "state")
	f := follow(t, dir, Query{})
	l, _ := logTo(dir)
	appendAll(t, l, 1)
	f.sees(t, 1)
	if err := os.RemoveAll(in(parent, "a")); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 2)
	f.sees(t, 1, 2)
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 3, 4)
	f.sees(t, 1, 2, 3, 4)
}
