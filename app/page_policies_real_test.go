//go:build real && linux

package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// office stands in for the background process behind the routes: its instances
// are made up, and nothing is ever ended. What the policies say of them is what
// they would really say.
type office struct {
	mu        sync.Mutex
	instances []monitor.Instance
	rules     policy.Rules
	until     time.Time // of a pause
	broken    bool      // it can keep nothing
	seq       uint64
	newest    *monitor.Snapshot
	readers   map[chan *monitor.Snapshot]bool
}

func (o *office) Snapshot() *monitor.Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.newest
}

func (o *office) Subscribe() (<-chan *monitor.Snapshot, func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := make(chan *monitor.Snapshot, 1)
	c <- o.newest
	o.readers[c] = true
	return c, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.readers, c)
	}
}

// change does something to the office and publishes what came of it.
func (o *office) change(do func()) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken {
		return errors.New("cannot write policy.json: no space left on device; make room")
	}
	do()
	now := time.Now()
	o.seq++
	s := &monitor.Snapshot{Seq: o.seq, At: now, Instances: append([]monitor.Instance{}, o.instances...)}
	s.Policy = o.rules.Standing(s, now)
	s.Policy.Active, s.Policy.Paused, s.Policy.PausedUntil = true, o.rules.Paused, o.until
	for _, action := range policy.Decide(s, o.rules, now) {
		for i := range s.Instances {
			if in := &s.Instances[i]; in.Identity == action.ID && action.Do == policy.Wait {
				in.Plan = monitor.Plan{ShutdownAt: action.At, Reason: action.Reason}
			}
		}
	}
	for i := range s.Instances {
		s.Instances[i].Plan.KeptUntil = o.rules.Kept[s.Instances[i].Identity]
	}
	o.newest = s
	for c := range o.readers {
		select {
		case <-c:
		default:
		}
		c <- s
	}
	return nil
}

func (o *office) Keep(in monitor.Instance, d time.Duration, _ string) error {
	return o.change(func() {
		delete(o.rules.Kept, in.Identity)
		if d > 0 {
			o.rules.Kept[in.Identity] = time.Now().Add(d)
		}
	})
}

func (o *office) Pause(until time.Time, _ string) error {
	return o.change(func() { o.rules.Paused, o.until = true, until })
}

func (o *office) Resume(string) error {
	return o.change(func() { o.rules.Paused, o.until = false, time.Time{} })
}

func (o *office) Switch(r policy.Rule, on bool, _ string) error {
	return o.change(func() { o.rules.Off[r] = !on })
}

func (o *office) Decisions(s *monitor.Snapshot, w policy.What) []policy.Action {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w == "" {
		return policy.Decide(s, o.rules, time.Now())
	}
	return policy.Select(s, w, o.rules, time.Now())
}

func (o *office) Confirm(monitor.Instance, policy.What) func(context.Context) error { return nil }

func (o *office) Stop(_ context.Context, in monitor.Instance, order stop.Order) (stop.Result, error) {
	if !order.DryRun {
		return stop.Result{}, errors.New("it was told to end something")
	}
	return stop.Result{Outcome: stop.WouldEnd, Detail: "Would end: " + in.Label() + ".", Processes: 2, FreedBytes: in.RSSBytes}, nil
}

func (o *office) Events(time.Time) ([]monitor.Event, error) {
	return []monitor.Event{
		{At: time.Now(), Kind: monitor.EventPoliciesPaused, Detail: "by a request"},
		{At: time.Now(), Kind: monitor.EventShutdownPlanned, ID: "11-1", PID: 11, Label: "24282 - alpha", Detail: "no call for 30 min"},
	}, nil
}

func (o *office) GivenBack() (bytes uint64, since time.Time) {
	return 3.2e9, time.Now().Add(-5 * 24 * time.Hour)
}

// newOffice has a server that was idle for long and is to end, an orphan, one
// that works, and one that a client holds. None is due while a test runs.
func newOffice(t *testing.T) *office {
	t.Helper()
	now := time.Now()
	no, yes := false, true
	server := func(pid, port int, project string, m monitor.Instance) monitor.Instance {
		m.Identity = monitor.Identity{PID: pid, Start: 1}
		m.Kind, m.Port, m.ProjectName, m.RSSBytes, m.Processes, m.Recognised = monitor.KindSerena, port, project, 210e6, 2, true
		m.StartedAt = now.Add(-2 * time.Hour)
		return m
	}
	codex := &monitor.Client{Identity: monitor.Identity{PID: os.Getpid()}, Name: "Codex"}
	idle := now.Add(-5 * time.Minute)
	o := &office{
		readers: map[chan *monitor.Snapshot]bool{},
		rules: policy.Rules{
			OrphanGrace: 10 * time.Minute, IdleAfter: 30 * time.Minute, ZombieAfter: 10 * time.Minute, MemoryOver: 2e9,
			Off: map[policy.Rule]bool{}, Kept: map[monitor.Identity]time.Time{},
		},
		instances: []monitor.Instance{
			server(11, 24282, "alpha", monitor.Instance{
				State: monitor.StateProject, Busy: &no, Evidence: monitor.Evidence{Transport: "http", IdleSince: idle, KeepsState: &no},
			}),
			server(12, 24283, "beta", monitor.Instance{
				State: monitor.StateZombie, Cause: monitor.CauseOrphaned, Reason: "its client has closed the connection and is gone", Client: codex, Busy: &no,
				Evidence: monitor.Evidence{
					Transport: "stdio", Orphaned: true, ClientGone: true, AloneSince: now.Add(-time.Minute), RedSince: now.Add(-time.Minute), IdleSince: idle, KeepsState: &no,
				},
			}),
			server(13, 24284, "gamma", monitor.Instance{State: monitor.StateProject, Busy: &yes, Client: codex, Evidence: monitor.Evidence{Transport: "stdio"}}),
			server(14, 24285, "delta", monitor.Instance{
				State: monitor.StateProject, Busy: &no, Client: codex, Evidence: monitor.Evidence{Transport: "stdio", IdleSince: idle, KeepsState: &no},
			}),
		},
	}
	if err := o.change(func() {}); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestPoliciesOnThePage: what will be ended is said with the reason and can be
// kept, and the panel shows and changes how the policies stand.
func TestPoliciesOnThePage(t *testing.T) {
	o := newOffice(t)
	server := httptest.NewServer(api.Handler(api.Parts{
		Source: o, Policies: o, Stop: o, Events: o, Returned: o, Version: "1.2.3-test", Log: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(func() { // after the page, which would complain
		server.CloseClientConnections() // a stream does not end by itself
		server.Close()
	})
	p := browsertest.Start(t).Open(t, server.URL+"/global-dashboard/", browsertest.Options{})
	p.Forgive("the server responded with a status of 404") // nobody has recorded a history
	p.Forgive("the server responded with a status of 500") // where the office is broken
	p.Forgive("the server responded with a status of 503") // nobody is welcomed, and start at login cannot be seen
	const rows, because, red = ".servers tbody", "because no call for 30 min", "because its client"
	checkbox := func(words string) browsertest.Thing {
		return browsertest.Thing{Role: "checkbox", Name: words, Within: ".policy"}
	}
	looks := func(t *testing.T, what string) {
		t.Helper()
		for look, options := range map[string]browsertest.Options{
			what: {}, what + " dark": {Dark: true}, what + " narrow": {Width: 390, Height: 844}, what + " narrow dark": {Width: 390, Height: 844, Dark: true},
		} {
			p.Look(t, options)
			p.Audit(t, look)
			p.Picture(t, look)
			if wide := p.WiderThanWindow(t); len(wide) != 0 {
				t.Errorf("%s: %q", look, wide)
			}
		}
		p.Look(t, browsertest.Options{})
	}

	t.Run("a row", func(t *testing.T) {
		p.AwaitText(t, rows, "will shut down", because)
		p.AwaitText(t, "#header", "3.2 GB given back")
		looks(t, "planned")
		(&street{page: p, address: server.URL + "/global-dashboard/"}).widths(t)
		p.Look(t, browsertest.Options{})
		p.Click(t, browsertest.Button("Keep 24282 - alpha for 1 h"))
		p.AwaitText(t, rows, "kept until")
		p.AwaitNoText(t, rows, because)
		p.AwaitText(t, notices, "Kept until", "24282 - alpha")
		p.Picture(t, "kept")
		p.Click(t, browsertest.Button("Keep 24282 - alpha no longer"))
		p.AwaitText(t, rows, because)
		if n := len(p.Find(t, browsertest.Button("Keep ").In(rows))); n != 2 {
			t.Errorf("%d servers can be kept in their rows, want the 2 that are about to end", n)
		}
	})
	t.Run("the panel", func(t *testing.T) {
		p.Click(t, browsertest.Thing{Role: "heading", Name: "Policies", Within: mainPart})
		p.AwaitText(t, ".policy", "End orphaned servers after 10 min", "End idle servers after 30 min", "set duplicates to use it", "3.2 GB given back since")
		p.AwaitText(t, mainPart, "4 of 5 on")
		looks(t, "panel")
		if box := p.AwaitThing(t, checkbox("Tell of two")); box.Properties["disabled"] != "true" {
			t.Errorf("a rule that is not set can be switched: %+v", box)
		}
		p.Click(t, checkbox("End idle servers"))
		p.AwaitText(t, mainPart, "3 of 5 on")
		p.AwaitNoText(t, rows, because)
		p.Click(t, checkbox("End idle servers"))
		p.AwaitText(t, rows, because)
	})
	t.Run("a pause", func(t *testing.T) {
		p.Click(t, browsertest.Button("Pause for 1 h"))
		p.AwaitText(t, ".policy", "paused until", "nothing is ended")
		p.AwaitNoText(t, rows, "will shut down")
		p.AwaitText(t, "#header", "policies paused")
		apptest.Eventually(t, "the focus goes to how to go on", func() bool { return p.Focused(t) == "button Resume" })
		looks(t, "paused")
		p.Click(t, browsertest.Button("Resume"))
		p.AwaitText(t, rows, because)
		p.AwaitNoText(t, "#header", "policies paused")
		for button, lasts := range map[string]bool{"Pause for today": true, "Pause until resumed": false} {
			p.Click(t, browsertest.Button(button))
			p.AwaitText(t, ".policy", "paused until")
			if got := !o.Snapshot().Policy.PausedUntil.IsZero(); got != lasts {
				t.Errorf("%s: until %v", button, o.Snapshot().Policy.PausedUntil)
			}
			p.Click(t, browsertest.Button("Resume"))
			p.AwaitText(t, rows, because)
		}
	})
	t.Run("refused", func(t *testing.T) {
		broken := func(is bool) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.broken = is
		}
		broken(true)
		defer broken(false)
		p.Click(t, checkbox("End idle servers"))
		p.AwaitText(t, notices, "cannot write policy.json", "make room")
		if box := p.AwaitThing(t, checkbox("End idle servers")); box.Properties["checked"] != "true" {
			t.Errorf("it is shown as done: %+v", box)
		}
		dismissAll(t, p)
	})
	t.Run("stop the orphaned", func(t *testing.T) {
		p.Click(t, browsertest.Button("Stop 1 orphaned"))
		p.AwaitText(t, openDialog, "Stop 24283 - beta?")
		p.Click(t, browsertest.Button("Cancel").In(openDialog))
		p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
	})
	t.Run("a header", func(t *testing.T) {
		p.Click(t, browsertest.Tab("24282 - alpha"))
		const head = ".instance-head"
		p.AwaitText(t, head, "idle since", "will shut down", because)
		looks(t, "header")
		p.Click(t, browsertest.Button("Why?").In(head))
		p.AwaitText(t, openDialog, "What the policies say about 24282 - alpha", "It will be ended at", "no call for 30 min.", "idle since")
		looks(t, "why")
		p.Click(t, browsertest.Button("Close").In(openDialog))
		p.Click(t, browsertest.Button("Keep for 1 h").In(head))
		p.AwaitText(t, head, "kept until")
		p.AwaitNoText(t, head, because)
		p.Click(t, browsertest.Button("Keep no longer").In(head))
		p.AwaitText(t, head, because)
		p.Click(t, browsertest.Tab("24283 - beta"))
		p.AwaitText(t, head, "its client has closed the connection and is gone", "will shut down", red, "has ended")
		p.Picture(t, "orphan")
		p.Click(t, browsertest.Tab("24285 - delta"))
		p.Click(t, browsertest.Button("Why?").In(head))
		p.AwaitText(t, openDialog, "Nothing now: no rule applies to it.")
		p.Click(t, browsertest.Button("Close").In(openDialog))
	})
	t.Run("events", func(t *testing.T) {
		p.Click(t, browsertest.Tab("Overview"))
		p.Click(t, browsertest.Thing{Role: "heading", Name: "Events", Within: mainPart})
		p.AwaitText(t, mainPart, "Policies paused", "by a request", "Will shut down")
		p.AwaitNoText(t, mainPart, "pid 0")
		looks(t, "events")
	})
}
