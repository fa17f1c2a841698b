package pins

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/watch"
)

// sleepers makes a server of a program that only sleeps.
type sleepers struct{}

func (sleepers) Hides(string, []string) bool { return false }

func (sleepers) Match(_ string, args []string) (string, bool) {
	return "sleeper", slices.Equal(args, []string{"sleep", "4712"})
}

// background is a watch with a store and a ladder, as lamplighter runs them.
type background struct {
	store  *Store
	model  *watch.Watch
	ladder *stop.Ladder
}

func run(t *testing.T, path string) (b background, end func()) {
	b.store = Open(path, nil)
	b.model = watch.New(watch.Options{Rules: sleepers{}, Pinned: b.store.Pinned})
	b.ladder = stop.New(stop.Options{Pinned: func(id monitor.Identity) (bool, error) { return b.store.Pinned(id), nil }})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = b.model.Serve(ctx) })
	end = func() { cancel(); running.Wait() }
	t.Cleanup(end)
	return b, end
}

// sees waits until the instance is in a snapshot, pinned or not.
func (b background) sees(t *testing.T, id monitor.Identity, pinned bool) monitor.Instance {
	t.Helper()
	snapshots, cancel := b.model.Subscribe()
	defer cancel()
	deadline := time.After(time.Minute)
	for {
		select {
		case s := <-snapshots:
			for _, in := range s.Instances {
				if in.Identity == id && in.Pinned == pinned {
					return *in
				}
			}
		case <-deadline:
			t.Fatalf("%v was never seen with pinned %v", id, pinned)
		}
	}
}

func TestAPinnedProcessIsNotEnded(t *testing.T) {
	cmd := exec.Command("sleep", "4712")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() { _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill(); wait.Wait() })
	st, err := process.ReadStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	path := fileIn(t)
	b, end := run(t, path)
	in := b.sees(t, st.Identity, false)

	if err := b.store.Set(in.Identity, true); err != nil {
		t.Fatal(err)
	}
	// The snapshot may be older than the pin.
	if r, err := b.ladder.Stop(t.Context(), in, stop.Order{}); !errors.Is(err, stop.ErrPinned) || r.Outcome != stop.Refused {
		t.Fatalf("%+v, %v", r, err)
	}
	b.model.PinsChanged()
	pinned := b.sees(t, st.Identity, true)
	// A ladder that has no store goes by the snapshot.
	if r, err := stop.New(stop.Options{}).Stop(t.Context(), pinned, stop.Order{}); !errors.Is(err, stop.ErrPinned) || r.Outcome != stop.Refused {
		t.Fatalf("%+v, %v", r, err)
	}

	// Another background process finds it pinned, and so does a single look.
	end()
	b, _ = run(t, path)
	b.sees(t, st.Identity, true)
	s, err := watch.Once(t.Context(), watch.Options{Rules: sleepers{}, Pinned: b.store.Pinned})
	if err != nil {
		t.Fatal(err)
	}
	if found := s.Instance(st.Identity); found == nil || !found.Pinned {
		t.Errorf("a single look sees %+v", found)
	}
	if r, err := b.ladder.Stop(t.Context(), pinned, stop.Order{}); !errors.Is(err, stop.ErrPinned) {
		t.Fatalf("%+v, %v", r, err)
	}
	if !lives(st.Identity) {
		t.Fatal("it was refused and ended")
	}

	if err := b.store.Set(st.Identity, false); err != nil {
		t.Fatal(err)
	}
	b.model.PinsChanged()
	in = b.sees(t, st.Identity, false)
	if r, err := b.ladder.Stop(t.Context(), in, stop.Order{}); err != nil || r.Outcome != stop.Ended {
		t.Fatalf("%+v, %v", r, err)
	}
	if lives(st.Identity) {
		t.Error("it lives")
	}
	if err := b.store.Set(st.Identity, true); !errors.Is(err, process.ErrGone) {
		t.Errorf("one that has ended was pinned: %v", err)
	}
}
