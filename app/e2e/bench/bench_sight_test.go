//go:build real && bench && linux

package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/app/api"
	"lamplighter/app/e2e"
	"lamplighter/monitor"
	"lamplighter/tray/traytest"
)

// sightings is when somebody began and ceased to show instances, by the port
// of their dashboard.
type sightings struct {
	mu      sync.Mutex
	shown   map[int]time.Time
	gone    map[int]time.Time
	changed monitor.Bell
}

func newSightings() *sightings {
	return &sightings{shown: map[int]time.Time{}, gone: map[int]time.Time{}, changed: monitor.NewBell()}
}

// show takes note of everything that is shown now.
func (s *sightings) show(ports []int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[int]bool{}
	for _, port := range ports {
		there[port] = true
		if _, known := s.shown[port]; !known {
			s.shown[port] = at
			delete(s.gone, port)
		}
	}
	for port := range s.shown {
		if !there[port] {
			s.gone[port] = at
			delete(s.shown, port)
		}
	}
	s.changed.Ring()
}

// await waits for a time that pick finds. One test waits at a time.
func (s *sightings) await(t *testing.T, what string, pick func() (time.Time, bool)) time.Time {
	t.Helper()
	limit := time.NewTimer(2 * time.Minute)
	defer limit.Stop()
	for {
		s.mu.Lock()
		at, ok := pick()
		s.mu.Unlock()
		if ok {
			return at
		}
		select {
		case <-s.changed:
		case <-limit.C:
			t.Fatalf("never seen: %s", what)
		}
	}
}

func (s *sightings) awaitShown(t *testing.T, port int) time.Time {
	t.Helper()
	return s.await(t, "a new instance", func() (time.Time, bool) { at, ok := s.shown[port]; return at, ok })
}

func (s *sightings) awaitGone(t *testing.T, port int) time.Time {
	t.Helper()
	return s.await(t, "the end of an instance", func() (time.Time, bool) { at, ok := s.gone[port]; return at, ok })
}

func (s *sightings) awaitCount(t *testing.T, n int) {
	t.Helper()
	s.await(t, "all instances", func() (time.Time, bool) { return time.Time{}, len(s.shown) == n })
}

// stream reads the stream of the control socket: instances that are live.
func stream(t *testing.T, h *e2e.Home) (*sightings, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client, _, err := api.Dial(ctx, h.Socket())
	if err != nil {
		t.Fatal(err)
	}
	s, ended := newSightings(), make(chan struct{})
	go func() {
		defer close(ended)
		// Its end is ours, or seen by whoever waits for what does not come.
		_ = client.Stream(ctx, func(list api.Instances) error {
			at := time.Now()
			var ports []int
			for _, in := range list.Instances {
				if in.Port != nil && (in.State == monitor.StateProject || in.State == monitor.StateNoProject) {
					ports = append(ports, *in.Port)
				}
			}
			s.show(ports, at)
			return nil
		})
	}()
	stop := func() { cancel(); <-ended; client.Close() }
	t.Cleanup(stop)
	return s, stop
}

// ear hears every message that one sender puts on the bus by itself.
type ear struct {
	mu    sync.Mutex
	said  []string
	heard monitor.Bell
}

// listen begins to hear the signals of sender.
func listen(t *testing.T, panel *traytest.Host, sender string) *ear {
	t.Helper()
	e := &ear{heard: monitor.NewBell()}
	signals := make(chan *dbus.Signal, 1024)
	panel.Conn.Signal(signals)
	if err := panel.Conn.AddMatchSignal(dbus.WithMatchSender(sender)); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := range signals { // closed with the connection
			if s == nil || s.Sender != sender {
				continue
			}
			e.mu.Lock()
			e.said = append(e.said, s.Name)
			e.mu.Unlock()
			e.heard.Ring()
		}
	}()
	return e
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.said)
}

// since returns the names of the signals after the first n.
func (e *ear) since(n int) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.said[n:]
}
