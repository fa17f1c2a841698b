package daemon

import (
	"slices"
	"testing"
)

func TestNotices(t *testing.T) {
	var n notices
	n.set(aboutRegistry, "r1", "r2")
	var shown [][]string
	n.show(func(all []string) { shown = append(shown, all) })
	n.set(aboutSettings, "s")
	n.set(aboutSettings, "s") // nothing new
	n.set(aboutRegistry)
	n.set(aboutSettings)
	want := [][]string{{"r1", "r2"}, {"s", "r1", "r2"}, {"s"}, nil}
	if !slices.EqualFunc(shown, want, slices.Equal[[]string]) {
		t.Errorf("%q", shown)
	}
}
