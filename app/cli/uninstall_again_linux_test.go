package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// meanwhile is a keyboard at which something happens before the answer is typed.
type meanwhile struct {
	happens func()
	io.Reader
}

func (m *meanwhile) Read(p []byte) (int, error) {
	if m.happens != nil {
		m.happens()
		m.happens = nil
	}
	return m.Reader.Read(p)
}

// Work that is made while the question stands is not purged.
func TestUninstallLooksAgain(t *testing.T) {
	m := newMachine(t)
	m.says(t, statusFine, "install", "--no-start")
	m.spaces = func() (workspaceManager, error) { return &fakeSpaces{}, nil }
	work := filepath.Join(m.Places().StateDir, "workspaces", "trees", "new", "work.txt")
	m.keyboard = &meanwhile{func() {
		if err := errors.Join(os.MkdirAll(filepath.Dir(work), 0o700), os.WriteFile(work, []byte("hours"), 0o600)); err != nil {
			t.Error(err)
		}
	}, strings.NewReader("y\n")}
	_, failed := m.says(t, statusFailed, "uninstall", "--purge")
	apptest.Contains(t, failed, "no record tells what this is", "workspaces/trees/new")
	if _, err := os.Stat(work); err != nil {
		t.Errorf("work is gone: %v", err)
	}
}

// What is started while the question stands ends, too, before its files go.
func TestUninstallEndsWhatCameMeanwhile(t *testing.T) {
	m := newMachine(t)
	m.says(t, statusFine, "install", "--no-start")
	m.keyboard = &meanwhile{func() { m.next.serve(t, m.desktop) }, strings.NewReader("y\n")}
	m.says(t, statusFine, "uninstall")
	if len(m.next.quits) == 0 {
		t.Error("the one that runs was not ended")
	}
}
