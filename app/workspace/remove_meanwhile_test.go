package workspace

import (
	"context"
	"errors"
	"os"
	"testing"

	"lamplighter/app/workspace/inuse"
)

// What somebody saves after it was looked what would be lost is not lost either.
func TestRemoveWrittenMeanwhile(t *testing.T) {
	for name, from := range map[string]func(l *lab) Request{
		"git": func(l *lab) Request {
			return Request{Kind: Temp, From: l.repository("repo", map[string]string{"a": "a"})}
		},
		"directory": func(l *lab) Request {
			return Request{Kind: Hybrid, From: l.source("from", map[string]string{"a": "a"})}
		},
	} {
		for _, crashed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				l := newLab(t)
				m := l.manager(nil)
				w := l.create(m, from(l))
				if w.Kind == Hybrid {
					if _, err := m.Keep(t.Context(), w.ID, "final", nil); err != nil {
						t.Fatal(err)
					}
				}
				m.o.InUse = func(_ context.Context, dir string) ([]inuse.Process, error) {
					if dir == w.Path { // whoever worked in it has saved and ended
						write(t, w.Path, map[string]string{"work": "hours"})
					}
					return nil, nil
				}
				m.crash = func(point string) {
					if crashed && point == "remove: set aside" {
						panic(crash{point})
					}
				}
				func() {
					defer func() { _ = recover() }()
					err := m.change(t.Context(), w.ID, func(r *record) error {
						_, err := m.takeAway(t.Context(), r, map[Kind]verb{Temp: stepRemove, Hybrid: stepEnd}[w.Kind], Removal{})
						return err
					})
					if !errors.Is(err, ErrInUse) {
						t.Error(err)
					}
				}()
				m = l.manager(nil)
				if err := m.Recover(t.Context()); err != nil {
					t.Error(err)
				}
				l.stays(m, w, map[string]string{"a": "a", "work": "hours"})
			})
		}
	}
}

// A tree that was set aside without a word goes only where nothing in it is a loss,
// and nobody works in it.
func TestFinishAsidePutsBack(t *testing.T) {
	for name, inside := range map[string]bool{"temp": true, "persistent": false} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			w := l.create(m, Request{Kind: Kind(name), From: l.source("from", map[string]string{"a": "a"})})
			trash := m.trash(l.record(m, w.ID), stepRemove)
			if err := os.Rename(w.Path, trash); err != nil {
				t.Fatal(err)
			}
			if inside {
				l.works(trash, shell)
			}
			write(t, w.Path, map[string]string{"theirs": "x"})
			tried := tries{}
			if _, err := m.sweep(t.Context(), tried); err == nil {
				t.Error("nobody was told that something lies in the way")
			}
			if wait := l.sweeps(m, tried); wait != inUsePause {
				t.Errorf("it is tried again after %v", wait)
			}
			if err := os.RemoveAll(w.Path); err != nil {
				t.Fatal(err)
			}
			l.passes(inUsePause)
			l.sweeps(m, tried)
			l.stays(m, w, map[string]string{"a": "a"})
		})
	}
}
