package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"lamplighter/monitor"
)

func TestPlacesAreGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := newTurns(1).slots
		var leave []func()
		for range cap(places) {
			out, err := enter(t.Context(), places)
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, out)
		}
		entered := make(chan int, 10)
		for i := range 10 {
			go func() {
				out, err := enter(t.Context(), places)
				if err != nil {
					t.Error(err)
					return
				}
				entered <- i
				out()
			}()
			synctest.Wait() // it waits behind those before it
		}
		leave[0]()
		for want := range 10 {
			if got := <-entered; got != want {
				t.Errorf("number %d came instead of %d", got, want)
			}
		}
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if _, err := enter(ctx, places); !errors.Is(err, cause) {
			t.Error(err)
		}
		for _, out := range leave[1:] {
			out()
		}
		if len(places) != 0 {
			t.Error("places stay taken")
		}
	})
}

// TestTurnsOfSerenas: alone where none has run, and up to 1.7.
func TestTurnsOfSerenas(t *testing.T) {
	home := t.TempDir()
	l := New(Options{SerenaHome: home})
	project := t.TempDir()
	serena := &start{l: l, spec: Spec{Template: Template{Name: monitor.KindSerena}, Project: project}}
	alone := func(version string) bool {
		t.Helper()
		leave, err := serena.turn(t.Context(), version)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		return len(l.turns.alone) == 1
	}
	if !alone("2.1.0") || !alone("1.7.0") || !alone("") {
		t.Error("first starts are not made one at a time")
	}
	if err := os.WriteFile(filepath.Join(home, serenaSettings), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if alone("2.1.0") || !alone("1.7.0") || alone("") {
		t.Error("later starts are")
	}
	inProject := func() int {
		t.Helper()
		leave, err := serena.turn(t.Context(), "2.1.0")
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		return len(l.turns.projects[project].places)
	}
	if inProject() != 1 {
		t.Error("first starts on a project are not made one at a time")
	}
	settings := filepath.Join(project, ".serena", "project.yml")
	if err := errors.Join(os.Mkdir(filepath.Dir(settings), 0o700), os.WriteFile(settings, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if inProject() != 0 {
		t.Error("later starts on a project are")
	}
	if len(l.turns.slots) != 0 || len(l.turns.alone) != 0 || len(l.turns.projects) != 0 {
		t.Error("places stay taken")
	}
	l.turns.alone <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := serena.turn(ctx, "1.7.0"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
