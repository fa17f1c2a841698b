//go:build unix

package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Wine makes symbolic links that nobody can follow, so they are tried elsewhere.

// Symbolic links stay, and what they lead to is changed; undo finds it again.
func TestSymbolicLinks(t *testing.T) {
	b := newBed(t)
	real := b.write("dotfiles/mcp.json", direct)
	path := filepath.Join(b.home, filepath.FromSlash(cursorFile))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(real, path)); err != nil {
		t.Fatal(err)
	}
	c := b.done(Wanted{})
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || b.read(real) != b.shared() || c.Backup != real+".lamplighter-backup" || c.Path != path {
		t.Errorf("%v, %v, %+v", info, err, c)
	}
	if list, err := New(b.o).List(t.Context(), Wanted{File: path}); err != nil || list[0].Files[0].Backup != c.Backup {
		t.Errorf("%+v, %v", list, err)
	}
	if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(real) != direct || c.Path != path {
		t.Errorf("%+v", c)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if r := b.do(Wanted{}); len(r.Changes) != 1 || !r.Failed() {
		t.Errorf("a link that leads nowhere: %+v", r)
	}
}
