package watch

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

var (
	aCall   = &serena.Task{Name: "Task-2:FindSymbolTool", Finished: true}
	cutCall = &serena.Task{Name: "Task-2:FindSymbolTool"}
	ofOwn   = &serena.Task{Name: "Task-3:init_project_services", Finished: true}
)

func number(n int64) *int64 { return &n }

// idle is an answer of a server that has nothing to do, and did task last.
func idle(task *serena.Task) result {
	return result{question: question{port: 24282}, tasked: true, task: task, queued: true}
}

func TestIdleSince(t *testing.T) {
	first, now := time.Now(), time.Now().Add(20*time.Minute)
	with := func(r result, change func(*result)) result { change(&r); return r }
	for _, c := range []struct {
		name  string
		known time.Time // idle since, before
		r     result
		want  time.Time
	}{
		{"first look", time.Time{}, idle(aCall), now},
		{"nothing new", first, idle(&serena.Task{Name: "Task-1:ListDirTool"}), first},
		{"a sign of life", first, result{question: question{port: 24282, signOfLife: true}}, first},
		{"a sign of life, and nothing known", time.Time{}, result{question: question{port: 24282, signOfLife: true}}, time.Time{}},
		{"a call has come and gone", first, idle(aCall), now},
		{"a task of its own has", first, idle(ofOwn), now},
		{"a call, and its own task after it", first, with(idle(ofOwn), func(r *result) { r.calls = number(6) }), now},
		{"a call of which only the count tells", first, with(idle(&serena.Task{Name: "Task-1:ListDirTool"}), func(r *result) { r.calls = number(6) }), now},
		{"statistics cleared", first, with(idle(&serena.Task{Name: "Task-1:ListDirTool"}), func(r *result) { r.calls = number(0) }), now},
		{"statistics cleared, and a call since", first, with(idle(&serena.Task{Name: "Task-1:ListDirTool"}), func(r *result) { r.calls = number(1) }), now},
		{"it does not count", first, with(idle(&serena.Task{Name: "Task-1:ListDirTool"}), func(r *result) { r.uncounted = true }), time.Time{}},
		{"a call runs", first, with(idle(aCall), func(r *result) { r.queue = []serena.Task{*aCall} }), time.Time{}},
		{"it gets ready", first, with(idle(nil), func(r *result) { r.queue = []serena.Task{*ofOwn} }), time.Time{}},
		{"the queue is not known", first, with(idle(aCall), func(r *result) { r.queued = false }), time.Time{}},
		{"the last task is not known", first, with(idle(nil), func(r *result) { r.tasked = false }), time.Time{}},
		{"cut off", first, idle(cutCall), time.Time{}},
	} {
		tr := known()
		tr.lastTask, tr.in.ToolCalls, tr.in.Evidence.IdleSince = "Task-1:ListDirTool", number(5), c.known
		tr.noteAnswer(c.r, now)
		if got := tr.shownEvidence().IdleSince; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatEndsIdleness(t *testing.T) {
	now := time.Now()
	for name, happens := range map[string]func(*tracked){
		"no answer":                    func(t *tracked) { t.noteFailure(result{}, now) },
		"suspended":                    func(t *tracked) { t.noteStat(process.Stat{State: process.Stopped}, 0, now) },
		"suspended while it was asked": func(t *tracked) { t.Stopped = true; t.noteAnswer(idle(nil), now) },
	} {
		tr := known()
		tr.in.Evidence.IdleSince = now
		happens(tr)
		if got := tr.shownEvidence().IdleSince; !got.IsZero() {
			t.Errorf("%s: idle since %v", name, got)
		}
	}
	// That we stop to ask is no answer.
	tr := known()
	tr.in.Evidence.IdleSince = now
	tr.noteFailure(result{err: context.Canceled}, now)
	if tr.shownEvidence().IdleSince != now {
		t.Error("a probe that was given up ends idleness")
	}
	// It begins anew when it is continued and says so.
	tr.noteStat(process.Stat{State: process.Stopped}, 0, now)
	tr.noteStat(process.Stat{State: process.Running}, 0, now)
	if !tr.active {
		t.Error("one that was continued is not asked")
	}
	later := now.Add(time.Second)
	if tr.noteAnswer(idle(nil), later); tr.shownEvidence().IdleSince != later {
		t.Errorf("idle since %v", tr.shownEvidence().IdleSince)
	}
}

// treeOf is a tree of the server of known, and of children that are younger.
func treeOf(children ...int) []process.Stat {
	tree := []process.Stat{{Identity: known().in.Identity}}
	for _, pid := range children {
		tree = append(tree, process.Stat{Identity: monitor.Identity{PID: pid, Start: known().in.Identity.Start + 1}})
	}
	return tree
}

// stepped is a time as the system tells it after its clock was set by d: the
// monotonic reading, which stands behind the wall clock in a Time, goes on.
func stepped(t *testing.T, at time.Time, d time.Duration) time.Time {
	t.Helper()
	const secondsAt = 30 // of the first word; the monotonic reading is the second
	to := at
	*(*uint64)(unsafe.Pointer(&to)) += uint64(int64(d/time.Second)) << secondsAt
	if to.Round(0).Sub(at.Round(0)) != d || to.Sub(at) != 0 {
		t.Fatal("a Time is not laid out as it was; this test has to learn it again")
	}
	return to
}

func TestClockSteps(t *testing.T) {
	at := time.Now()
	for _, step := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		tr := known()
		tr.Born = at
		tr.noteAnswer(idle(cutCall), at)
		tr.in.Evidence, tr.clientGone = monitor.Evidence{IdleSince: at, Orphaned: true, AloneSince: at}, at
		tr.noteTree(treeOf(), stepped(t, at.Add(time.Minute), step))
		if got := tr.shownEvidence().IdleSince; !got.IsZero() {
			t.Errorf("%v: a call that was cut off is over", step)
		}
		now := stepped(t, at.Add(cutOffWork), step)
		tr.noteTree(treeOf(), now)
		in, _ := tr.instance(now)
		if idle := now.Sub(in.Evidence.IdleSince); idle != 0 {
			t.Errorf("%v: idle for %v", step, idle)
		}
		if alone := now.Sub(in.Evidence.AloneSince); alone != cutOffWork {
			t.Errorf("%v: alone for %v", step, alone)
		}
		if red := now.Sub(in.Evidence.RedSince); red != 0 {
			t.Errorf("%v: red for %v", step, red)
		}
	}
}

// leave makes what is known of a server whose client has gone.
func leave(t *tracked, known monitor.Evidence, gone time.Time) {
	t.in.Evidence, t.clientGone = known, gone
}

func TestShownEvidence(t *testing.T) {
	gone, found, now := time.Now(), time.Now().Add(time.Second), time.Now().Add(time.Hour)
	for _, c := range []struct {
		name  string
		touch func(*tracked)
		want  monitor.Evidence
	}{
		{"over stdio", func(*tracked) {}, monitor.Evidence{Transport: "stdio"}},
		{"over HTTP", func(t *tracked) { t.cmd.Transport = "streamable-http" }, monitor.Evidence{Transport: "http"}},
		{"over SSE", func(t *tracked) { t.cmd.Transport = "sse" }, monitor.Evidence{Transport: "sse"}},
		{"its client has gone", func(t *tracked) { t.clientGone = gone }, monitor.Evidence{Transport: "stdio", ClientGone: true}},
		{"orphaned, at once", func(t *tracked) { leave(t, monitor.Evidence{Orphaned: true, AloneSince: now}, gone) },
			monitor.Evidence{Transport: "stdio", Orphaned: true, ClientGone: true, AloneSince: now}},
		{"suspected", func(t *tracked) { t.in.Evidence = monitor.Evidence{Suspected: true, AloneSince: found} },
			monitor.Evidence{Transport: "stdio", Suspected: true, AloneSince: found, RedSince: now}},
		{"by a single look", func(t *tracked) { t.OneLook, t.in.Evidence = true, monitor.Evidence{Suspected: true, AloneSince: now} },
			monitor.Evidence{Transport: "stdio", Suspected: true, AloneSince: now, RedSince: now}},
		{"over HTTP, whoever started it has gone", func(t *tracked) { t.cmd.Transport, t.clientGone = "sse", gone }, monitor.Evidence{Transport: "sse"}},
		{"managed", func(t *tracked) { t.in.Managed, t.cmd.Transport = true, "streamable-http" }, monitor.Evidence{Transport: "http"}},
		{"another kind", func(t *tracked) { t.in.Kind, t.cmd, t.looked = "git", serena.Command{}, true }, monitor.Evidence{Transport: "stdio"}},
		{"another kind that listens", func(t *tracked) { t.in.Kind, t.cmd, t.looked, t.listens = "git", serena.Command{}, true, true }, monitor.Evidence{}},
		{"unrecognised", func(t *tracked) { t.in.Recognised, t.cmd = false, serena.Command{} }, monitor.Evidence{}},
		{"suspended", func(t *tracked) { t.Stopped = true }, monitor.Evidence{Transport: "stdio", RedSince: now}},
		{"defunct", func(t *tracked) {
			t.ExitedAt, t.Unreaped = gone, true
			leave(t, monitor.Evidence{IdleSince: gone, Orphaned: true, AloneSince: found}, gone)
		}, monitor.Evidence{RedSince: now}},
	} {
		tr := known()
		c.touch(tr)
		in, shown := tr.instance(now)
		if !shown || in.Evidence != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, in.Evidence, c.want)
		}
	}
}

func TestRedSince(t *testing.T) {
	tr := known()
	at := time.Now()
	red := func(now time.Time) time.Time {
		in, _ := tr.instance(now)
		return in.Evidence.RedSince
	}
	if !red(at).IsZero() {
		t.Error("red from the start")
	}
	tr.Stopped = true
	if red(at.Add(1)) != at.Add(1) || red(at.Add(2)) != at.Add(1) {
		t.Error("not since it was found")
	}
	tr.in.Evidence.Orphaned, tr.in.Evidence.AloneSince = true, at.Add(-time.Hour)
	if red(at.Add(3)) != at.Add(1) {
		t.Error("another cause is no other state")
	}
	tr.Stopped, tr.in.Evidence.Orphaned = false, false
	if !red(at.Add(4)).IsZero() {
		t.Error("red for ever")
	}
}

// What a server says about its interface stays known when it does not say so.
func TestKeepsState(t *testing.T) {
	tr := known()
	if tr.shownEvidence().KeepsState != nil {
		t.Error("known before it has said so")
	}
	tr.noteOverview(&serena.Overview{Version: "2.1.0", AgentInterface: "REPL"})
	tr.noteOverview(&serena.Overview{Version: "2.1.0"})
	if keeps := tr.shownEvidence().KeepsState; keeps == nil || !*keeps {
		t.Error("forgotten")
	}
	tr.noteOverview(&serena.Overview{Version: "2.1.0", AgentInterface: "tools"})
	if keeps := tr.shownEvidence().KeepsState; keeps == nil || *keeps {
		t.Error("it keeps nothing")
	}
}

// A message during a probe asks for another one: the answer may be older.
func TestMessageDuringAProbe(t *testing.T) {
	w := New(Options{})
	l := w.begin(nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer l.probes.Wait()
	cancel() // nobody is to be asked
	tr := known()
	l.tracked[tr.in.Identity] = tr
	tr.active = true
	l.probe(ctx, tr, start)
	if tr.active {
		t.Error("what led to this probe asks for another")
	}
	if tr.noteStat(process.Stat{Identity: tr.in.Identity, CPU: processCPU}, 0, start.Add(time.Second)); tr.active {
		t.Error("that it answers us counts as a message")
	}
	tr.active = true
	l.inFlight++ // that of this result
	l.absorb(result{question: question{of: tr, port: 24282, signOfLife: true}}, start)
	if !tr.isProbeDue(start.Add(tr.limits.active), false) {
		t.Error("the message is lost")
	}
}

// Whatever happens, a server is idle only since a moment at which it said so,
// and never while it has not.
func TestIdlenessIsNeverMadeUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := known()
		now := time.Now()
		said := map[time.Time]bool{} // when it said that it has nothing to do
		var task int
		quiet, cut, over := false, time.Time{}, time.Time{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
			switch rapid.SampledFrom([]string{"idle", "call", "busy", "sign", "fails", "stop", "go", "unknown"}).Draw(t, "what") {
			case "idle":
				tr.noteAnswer(idle(&serena.Task{Name: tr.lastTask, Finished: true}), now)
				quiet = !tr.Stopped
				said[now] = quiet
			case "call":
				task++
				last := &serena.Task{Name: "Task-" + string(rune('a'+task%26)) + ":XTool", Finished: rapid.Bool().Draw(t, "finished")}
				if !last.Finished {
					cut = now.Add(cutOffWork)
				}
				tr.noteAnswer(idle(last), now)
				quiet, said = !tr.Stopped, map[time.Time]bool{now: true}
			case "busy":
				r := idle(nil)
				r.queue = []serena.Task{*aCall}
				r.task = &serena.Task{Name: tr.lastTask, Finished: true}
				tr.noteAnswer(r, now)
				quiet, said = false, map[time.Time]bool{}
			case "sign":
				tr.noteAnswer(result{question: question{port: 1, signOfLife: true}}, now)
			case "fails":
				tr.noteFailure(result{err: errors.New("x")}, now)
				if !tr.Stopped {
					quiet, said = false, map[time.Time]bool{}
				}
			case "unknown":
				tr.noteAnswer(result{question: question{port: 1}}, now)
				quiet, said = false, map[time.Time]bool{}
			case "stop":
				tr.noteStat(process.Stat{State: process.Stopped}, 0, now)
				quiet, said = false, map[time.Time]bool{}
			case "go":
				tr.noteStat(process.Stat{State: process.Running}, 0, now)
			}
			if !cut.IsZero() && over.Before(cut) && !now.Before(cut) {
				over = now
			}
			tr.noteTree(treeOf(), now)
			got := tr.shownEvidence().IdleSince
			switch {
			case now.Before(cut) || !quiet:
				if !got.IsZero() {
					t.Fatalf("idle since %v", got)
				}
			case !said[got] && got != over:
				t.Fatalf("idle since %v, which nobody said", got)
			}
		}
	})
}

// connected is a machine on which one program listens and others are connected.
type connected struct {
	process.System
	pid   int
	ports []int
	users []int // of the last port
}

func (c connected) Listeners([]int) (list []process.Listener, err error) {
	for _, port := range c.ports {
		list = append(list, process.Listener{PID: c.pid, Addr: netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(port))})
	}
	return list, nil
}

func (c connected) Connections(port int) ([]process.Connection, error) {
	var list []process.Connection
	if port == c.ports[len(c.ports)-1] {
		for _, pid := range c.users {
			list = append(list, process.Connection{PID: pid})
		}
	}
	return list, nil
}

func TestCheckConnections(t *testing.T) {
	const dashboard, mcp, client = 24282, 9121, 77
	suspended := func(tr *tracked) { tr.Stopped = true }
	for _, c := range []struct {
		name   string
		change func(*tracked)
		ports  []int
		users  []int
		want   bool
	}{
		{"nobody", suspended, []int{dashboard, mcp}, nil, true},
		{"hung, nobody", func(tr *tracked) { tr.Unreachable = true }, []int{dashboard, mcp}, nil, true},
		{"a client", suspended, []int{dashboard, mcp}, []int{client}, false},
		{"somebody who could not be found out", suspended, []int{dashboard, mcp}, []int{0}, false},
		{"its own process and we", suspended, []int{dashboard, mcp}, []int{5, 1}, true},
		{"a page of its dashboard", suspended, []int{mcp, dashboard}, []int{client}, true},
		{"no port of its clients", suspended, []int{dashboard}, nil, false},
		{"it answers", func(*tracked) {}, []int{dashboard, mcp}, nil, false},
	} {
		tr := known()
		tr.cmd.Transport, tr.in.Evidence.RedSince, tr.tree = "streamable-http", start, []monitor.Identity{{PID: 5, Start: 5}}
		c.change(tr)
		l := &loop{self: monitor.Identity{PID: 1}, o: Options{System: connected{pid: tr.in.Identity.PID, ports: c.ports, users: c.users}}}
		l.checkConnections(tr)
		if got := tr.shownEvidence().NoUsers; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
