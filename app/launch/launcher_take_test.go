package launch

import (
	"context"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

// atOnce is a watch in which every process ends as soon as it is watched, and
// whose reader has dealt with that when Watch returns.
type atOnce struct{ exits chan monitor.Identity }

func (a atOnce) Serve(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
func (a atOnce) Exits() <-chan monitor.Identity { return a.exits }
func (a atOnce) Watch(id monitor.Identity) error {
	a.exits <- id
	a.exits <- monitor.Identity{} // taken when the one before has been dealt with
	return nil
}
func (a atOnce) Forget(monitor.Identity) {}

// TestAnEndAtOnce is not lost, although the server is just being taken into the
// list.
func TestAnEndAtOnce(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, func(l *Launcher) { l.exits = atOnce{make(chan monitor.Identity)} })
	s, err := l.Launch(t.Context(), order())
	if err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "its end is noticed", func() bool {
		select {
		case <-s.Done():
			return true
		default:
			return false
		}
	})
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
}
