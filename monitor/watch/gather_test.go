package watch

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/situation"
	"lamplighter/monitor/situation/machinetest"
)

// slowly are dashboards that take their time, and are at work from some moment on.
type slowly struct {
	Dashboards
	takes map[int]time.Duration // by port
	busy  time.Time
	asked chan time.Time // when they were asked since
}

func (s slowly) Queue(ctx context.Context, port int) ([]serena.Task, error) {
	asked := time.Now()
	time.Sleep(s.takes[port]) // of the bubble's clock
	if !asked.Before(s.busy) {
		s.asked <- asked
		return []serena.Task{{Name: "Task-1:FindSymbolTool", IsRunning: true}}, nil
	}
	return s.Dashboards.Queue(ctx, port)
}

// What a tick and several dashboards tell is published together: it waits for the others no
// longer than gatherTime, and when there are none it does not wait.
func TestAnswersAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s := &situation.Situation{Name: "three", Origin: situation.Constructed, Platform: "linux", Now: begun, UID: 1000}
		takes := map[int]time.Duration{24283: 10 * time.Millisecond, 24284: 40 * time.Millisecond, 24285: 200 * time.Millisecond}
		for port := range takes {
			pid := port - 24280
			s.Processes = append(s.Processes, situation.Process{
				PID: pid, Parent: 1, Start: uint64(pid), UID: 1000, Name: "python3", Exe: "/usr/bin/python3",
				Args: []string{"python3", "/usr/bin/serena", "start-mcp-server"}, Ports: []situation.Port{{Port: port}},
				Server: &situation.Server{Dashboard: &situation.Dashboard{Port: port}},
			})
		}
		m := machinetest.New(s)
		asked := make(chan time.Time, len(takes))
		w := New(Options{System: m, Dashboards: slowly{m, takes, begun.Add(2 * burstEvery), asked}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = w.Serve(ctx) // until the end of ctx
		}()
		time.Sleep(burstEvery - time.Second)
		before := w.Snapshot().Seq
		time.Sleep(burstEvery)
		if n := w.Snapshot().Seq - before; n != 2 {
			t.Errorf("%d snapshots, and not one for what comes in time and one for the last, while nothing happens", n)
		}
		snapshots, unsubscribe := w.Subscribe()
		defer unsubscribe()
		<-snapshots
		var when []time.Time
		var busy []int
		for !slices.Contains(busy, len(takes)) {
			n := 0
			for _, in := range (<-snapshots).Instances {
				if in.Busy != nil && *in.Busy {
					n++
				}
			}
			when, busy = append(when, time.Now()), append(busy, n)
		}
		first := <-asked
		want := []time.Time{first.Add(gatherTime), first.Add(takes[24285])}
		if !slices.Equal(when, want) || !slices.Equal(busy, []int{2, 3}) {
			t.Errorf("asked at %v, published at %v, with %v at work", first, when, busy)
		}
		cancel()
		<-ended
	})
}

// Whose identity a launch changes while its dashboard is asked has been asked all the same, and
// who waits for that is answered.
func TestLaunchedWhileItIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		after  time.Duration // it is told of
		server monitor.Identity
		fresh  []monitor.Identity // that somebody wants looked at before
	}{
		"for the first time": {50 * time.Millisecond, below, nil},
		"again and again":    {5 * time.Second, above, []monitor.Identity{below, below}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &situation.Situation{Name: "two", Origin: situation.Constructed, Platform: "linux", Now: time.Now(), UID: 1000}
				for _, p := range []situation.Process{
					{PID: above.PID, Start: above.Start, Parent: 1},
					{PID: below.PID, Start: below.Start, Parent: above.PID, Ports: []situation.Port{{Port: 24282}}, Server: &situation.Server{Dashboard: &situation.Dashboard{Port: 24282}}},
				} {
					p.UID, p.Name, p.Exe, p.Args = 1000, "python3", "/usr/bin/python3", []string{"python3", "/usr/bin/serena", "start-mcp-server"}
					s.Processes = append(s.Processes, p)
				}
				m := machinetest.New(s)
				w := New(Options{System: m, Dashboards: slowly{m, map[int]time.Duration{24282: 200 * time.Millisecond}, time.Now().Add(time.Hour), nil}})
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { _ = w.Serve(ctx) })
				time.Sleep(c.after)
				for _, id := range c.fresh {
					running.Go(func() {
						if _, err := w.Fresh(ctx, id); err != nil {
							t.Error(err)
						}
					})
					time.Sleep(10 * time.Millisecond)
				}
				w.Launched(monitor.Launch{Server: c.server, DashboardPort: 24282})
				time.Sleep(time.Second)
				if in := w.Snapshot().Instance(c.server); in == nil || in.State != monitor.StateNoProject {
					t.Errorf("%+v", in)
				}
				cancel()
				running.Wait()
			})
		})
	}
}

// A launcher, and the server that has the same command line.
var above, below = monitor.Identity{PID: 3, Start: 3}, monitor.Identity{PID: 4, Start: 4}
