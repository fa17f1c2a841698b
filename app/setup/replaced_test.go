package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A file that was removed with its backup, and written anew, has nothing to do
// with what setup did before.
func TestFileThatWasReplaced(t *testing.T) {
	b := newBed(t)
	text := "[mcp_servers.serena]\ncommand = 'serena'\nargs = ['start-mcp-server']\n"
	path := b.write(codexFile, text)
	first := b.done(Wanted{})
	if err := errors.Join(os.Remove(path), os.Remove(first.Backup)); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(text, "server']", "server', '--context', 'codex']", 1)
	b.write(codexFile, other)
	b.done(Wanted{})
	if c := b.done(Wanted{Undo: true}); b.read(path) != other || !c.Whole || c.Backup != "" || len(c.Left) > 0 || len(b.beside(path)) > 0 {
		t.Errorf("%+v, %q\n%s", c, b.beside(path), b.read(path))
	}
	if rec, err := loadRecord(b.state); err != nil || len(rec.all) > 0 {
		t.Errorf("%+v, %v", rec, err)
	}
}

// A link that leads nowhere is no file that is not there.
func TestLinkThatLeadsNowhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // where making one takes a right
	}
	b := newBed(t)
	path := filepath.Join(b.home, filepath.FromSlash(cursorFile))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink("nowhere", path)); err != nil {
		t.Fatal(err)
	}
	if r := b.do(Wanted{Client: "cursor"}); len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Problem, "leads nowhere") {
		t.Errorf("%+v", r)
	}
	list, err := New(b.o).List(t.Context(), Wanted{Client: "cursor"})
	if err != nil || !list[0].Files[0].Exists || !strings.Contains(list[0].Files[0].Problem, "leads nowhere") {
		t.Errorf("%+v, %v", list, err)
	}
	if r := b.do(Wanted{Undo: true}); len(r.Changes) > 0 {
		t.Errorf("%+v", r)
	}
}
