package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// TestKillingInEveryOrder kills keeper, server and background process one after
// the other in every order, with a server and a child of it that ignore SIGTERM.
// Nothing may be left, the latest when the next background process has looked.
func TestKillingInEveryOrder(t *testing.T) {
	t.Cleanup(func() { nobody(t) })
	for _, lifetime := range []Lifetime{Session, Shared} {
		for _, kill := range []string{
			"us", "keeper", "server",
			"us keeper", "us server", "keeper us", "keeper server", "server us", "server keeper",
			"us keeper server", "us server keeper", "keeper us server", "keeper server us", "server us keeper", "server keeper us",
		} {
			t.Run(string(lifetime)+" "+kill, func(t *testing.T) {
				t.Parallel()
				state := t.TempDir()
				b := startBackground(t, state)
				s := b.launch(t, string(lifetime)+" --ignore --child")
				for _, whom := range strings.Fields(kill) {
					switch whom {
					case "us":
						b.kill()
					case "keeper":
						killed(t, s.keeper)
					case "server":
						killed(t, s.server)
					}
				}
				if lifetime == Session && kill == "us" {
					// That needs nobody else.
					apptest.Eventually(t, "all of it is gone", func() bool { return !lives(s.server) && !lives(s.keeper) })
				}
				if strings.Contains(kill, "us") {
					l, stop := running(t, state, nil)
					apptest.Eventually(t, "what was left is dealt with", func() bool {
						left, err := os.ReadDir(filepath.Join(state, serversDir))
						return err == nil && len(left) == len(l.adopted())
					})
					if lifetime == Shared && kill == "us" {
						adopted := l.adopted()
						if len(adopted) != 1 || adopted[0].Identity() != s.server {
							t.Fatalf("adopted: %v", adopted)
						}
						if err := adopted[0].End(t.Context(), "the test"); err != nil {
							t.Error(err)
						}
					} else if len(l.adopted()) != 0 {
						t.Error("something was adopted")
					}
					stop()
				} else {
					apptest.Eventually(t, "its record is gone", func() bool {
						_, err := os.Stat(filepath.Join(state, serversDir, s.id))
						return errors.Is(err, os.ErrNotExist)
					})
					b.end(t)
				}
				dead(t, s.keeper, s.server)
				allGone(t, state, s.id, s.keeper, s.server)
			})
		}
	}
}

// killed kills a process that may have ended already, and waits for its end.
func killed(t *testing.T, id monitor.Identity) {
	t.Helper()
	if h, err := process.Hold(id); err == nil {
		defer h.Close()
		_ = h.Kill()
		if err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheEndOfABackgroundProcess leaves shared servers to the next one.
func TestTheEndOfABackgroundProcess(t *testing.T) {
	state := t.TempDir()
	first, stop := running(t, state, func(l *Launcher) { l.o.Limits.Linger = Limits{}.orDefault().Linger })
	session, err := first.Launch(t.Context(), order("--ignore", "--child"))
	if err != nil {
		t.Fatal(err)
	}
	spec := order("--wrap")
	spec.Lifetime = Shared
	shared, err := first.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	allGone(t, state, session.ID(), session.ids.keeper, session.Identity())
	if !lives(shared.Identity()) {
		t.Fatal("the shared one has ended")
	}

	told := make(chan monitor.Launch, 2)
	second, stop := running(t, state, func(l *Launcher) { l.o.Tell = func(m monitor.Launch) { told <- m } })
	adopted := <-told
	s := second.adopted()[0]
	if s.Identity() != shared.Identity() || s.MCPURL() != shared.MCPURL() || s.Key() != "key" || s.rec.client().Name != "the test" ||
		!slices.Equal(s.rec.Command, shared.rec.Command) || !s.StartedAt().Equal(shared.StartedAt()) {
		t.Errorf("%+v", s.rec)
	}
	// It is seen to as if it had been started by this one.
	killed(t, s.Identity())
	<-s.Done()
	stop()
	if len(told) != 0 || adopted.Server != s.Identity() || adopted.Lifetime != "shared" {
		t.Errorf("%+v, and %d more", adopted, len(told))
	}
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
	nobody(t)
}

// TestRecordsThatCannotBeReadNow are read later: until then their servers, which
// may be in use, go on.
func TestRecordsThatCannotBeReadNow(t *testing.T) {
	state := t.TempDir()
	first, stop := running(t, state, func(l *Launcher) { l.o.Limits.Linger = Limits{}.orDefault().Linger })
	spec := order()
	spec.Lifetime = Shared
	s, err := first.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	tries := 0
	second, _ := running(t, state, func(l *Launcher) {
		l.o.Limits.Retry = time.Millisecond
		l.readRecord = func(dir, id string) (record, error) {
			if tries++; tries < 3 {
				return record{}, statefile.Error(&fs.PathError{Op: "open", Path: dir, Err: syscall.EMFILE}, dir)
			}
			return readRecord(dir, id)
		}
	})
	apptest.Eventually(t, "it is adopted", func() bool { return len(second.adopted()) == 1 })
	if second.adopted()[0].Identity() != s.Identity() {
		t.Errorf("%v instead of %v", second.adopted()[0].Identity(), s.Identity())
	}
	if err := second.adopted()[0].End(t.Context(), "the test"); err != nil {
		t.Error(err)
	}
}

// TestSurvivors are told of, and stay known.
func TestSurvivors(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, nil)
	s, err := l.Launch(t.Context(), order())
	if err != nil {
		t.Fatal(err)
	}
	finish := s.finish
	s.finish = func(*Server, string) error { return ErrSurvived }
	if err := s.End(t.Context(), "the test"); !errors.Is(err, ErrSurvived) || len(l.Servers()) != 1 || !lives(s.Identity()) {
		t.Error(err)
	}
	s.finish = finish
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.End(ctx, "the test"); !errors.Is(err, context.Canceled) && err != nil {
		t.Error(err)
	}
	if err := s.End(t.Context(), "the test"); err != nil {
		t.Error(err)
	}
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
}
