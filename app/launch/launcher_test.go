package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// TestTheWarningGoes takes back what was said when its cause has gone.
func TestTheWarningGoes(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	warned := make(chan []string, 2)
	l := New(Options{StateDir: state, Program: keeperPath(t), Warn: func(sentences ...string) { warned <- sentences }})
	l.finder = given{}
	if err := l.Open(t.Context()); err == nil {
		t.Fatal("it opened a file as its directory")
	}
	if got := <-warned; len(got) != 1 || !strings.Contains(got[0], "cannot be made") {
		t.Errorf("%q", got)
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	serves(t, l)
	if got := <-warned; len(got) != 0 {
		t.Errorf("%q", got)
	}
	apptest.Eventually(t, "servers can be launched", func() bool {
		s, err := l.Launch(t.Context(), order())
		return err == nil && slices.Contains(l.Servers(), s)
	})
}

// TestStartsOpen what could not be opened before: nobody has to wait for the next
// try of Serve.
func TestStartsOpen(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(Options{StateDir: state, Program: keeperPath(t)})
	l.finder = given{}
	if err := l.Open(t.Context()); err == nil {
		t.Fatal("it opened a file as its directory")
	}
	stop := serves(t, l)
	if _, err := l.Launch(t.Context(), order()); err == nil || !strings.Contains(err.Error(), "cannot be made") {
		t.Error(err)
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	s, err := l.Launch(t.Context(), order())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
	if _, err := l.Launch(t.Context(), order()); !errors.Is(err, errClosing) {
		t.Error(err)
	}
}

// TestTheLostLock: somebody replaces the lock and holds the new one. The user is
// warned until a start, or a look without one, has it again.
func TestTheLostLock(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	warned := make(chan []string, 16)
	l, _ := running(t, state, func(l *Launcher) {
		l.o.Warn, l.o.Limits.Retry = func(sentences ...string) { warned <- sentences }, lockEvery
	})
	path := filepath.Join(state, aliveFile)
	if err := os.Remove(path); err != nil {
		return // Windows lets nobody do that
	}
	other := aliveLock{path: path}
	if err := other.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Launch(t.Context(), order()); !errors.Is(err, errAliveTaken) {
		t.Error(err)
	}
	if got := <-warned; len(got) != 1 || !strings.Contains(got[0], NoServers) || !strings.Contains(got[0], errAliveTaken.Error()) {
		t.Errorf("%q", got)
	}
	if err := other.release(); err != nil {
		t.Fatal(err)
	}
	for got := range warned { // as often as it was tried
		if len(got) == 0 {
			break
		}
	}
	if _, err := l.Launch(t.Context(), order()); err != nil {
		t.Error(err)
	}
}
