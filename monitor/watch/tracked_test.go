package watch

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

var (
	start = time.Unix(1_700_000_000, 0)
	aPipe = monitor.Pipe{In: monitor.PipeEnd{Inode: 7}, Out: monitor.PipeEnd{Inode: 8}}
)

func known() *tracked {
	t := New(Options{}).begin(nil).newTracked(process.Info{Identity: monitor.Identity{PID: 1 << 30, Start: 7}}, monitor.KindSerena, serena.Command{Transport: "stdio"}, start)
	t.port, t.Answered, t.cpuAt, t.probedAt = 24282, true, start, start.Add(-time.Minute)
	return t
}

func TestProbeDue(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(*tracked)
		burst bool
		want  bool
	}{
		{"quiet", func(*tracked) {}, false, false},
		{"quiet, in the burst", func(*tracked) {}, true, true},
		{"used the CPU", func(t *tracked) { t.active = true }, false, true},
		{"used the CPU, just asked", func(t *tracked) { t.active, t.probedAt = true, start }, false, false},
		{"already asking", func(t *tracked) { t.active, t.probing = true, true }, true, false},
		{"suspended", func(t *tracked) { t.active, t.Stopped = true, true }, true, false},
		{"exited", func(t *tracked) { t.ExitedAt = start }, true, false},
		{"no port yet", func(t *tracked) { t.port = 0 }, true, false},
		{"a port to try", func(t *tracked) { t.port, t.candidates, t.nextProbe = 0, []candidate{{1, 1}}, start }, false, true},
		{"repeat due", func(t *tracked) { t.nextProbe = start }, false, true},
		{"repeat not yet due", func(t *tracked) { t.nextProbe, t.active = start.Add(time.Hour), true }, true, false},
	} {
		tr := known()
		c.setup(tr)
		if got := tr.isProbeDue(start.Add(time.Millisecond), c.burst); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestSignOfLifeSuffices(t *testing.T) {
	for _, c := range []struct {
		name  string
		touch func(*tracked)
		want  bool
	}{
		{"asleep", func(*tracked) {}, true},
		{"never answered", func(t *tracked) { t.Answered = false }, false},
		{"failing", func(t *tracked) { t.Failures = 1 }, false},
		{"a repeat was decided", func(t *tracked) { t.nextProbe = start }, false},
		{"was asked something", func(t *tracked) { t.active = true }, false},
		{"at work", func(t *tracked) { t.Busy = true }, false},
		{"its overview is wanted", func(t *tracked) { t.wantOverview = true }, false},
		{"its overview is old", func(t *tracked) { t.overviewAt = start.Add(-overviewEvery) }, false},
		{"something is wrong with it", func(t *tracked) { t.health.problems = []monitor.Problem{{Cause: monitor.CauseQueue}} }, false},
		{"something is to be mentioned", func(t *tracked) { t.health.problems = []monitor.Problem{{Kind: monitor.Ended}} }, true},
		{"its main thread is not known", func(t *tracked) { t.mainCPU = 0 }, false},
	} {
		tr := known()
		tr.mainCPU, tr.overviewAt = time.Second, start.Add(-time.Minute)
		c.touch(tr)
		if got := tr.signOfLifeSuffices(start); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// A sign of life says nothing about what was known before.
	tr := known()
	yes := true
	tr.in.Busy, tr.lastTask, tr.in.LastActivity = &yes, "Task-1:ListDirTool", start
	tr.noteAnswer(result{question: question{port: 24282, signOfLife: true}}, start.Add(time.Minute))
	if tr.in.Busy != &yes || tr.lastTask == "" || !tr.in.LastActivity.Equal(start) || !tr.in.LastHeartbeat.Equal(start.Add(time.Minute)) {
		t.Errorf("%+v", tr.in)
	}
}

func TestIsUntouched(t *testing.T) {
	for _, c := range []struct {
		name  string
		touch func(*tracked)
		main  time.Duration
		want  bool
	}{
		{"asleep", func(*tracked) {}, time.Second, true},
		{"its main thread has run", func(*tracked) {}, time.Second + 1, false},
		{"its main thread is not known", func(t *tracked) { t.mainCPU = 0 }, 0, false},
		{"failing: its other threads count too", func(t *tracked) { t.Failures = 1 }, time.Second, false},
		{"never measured", func(t *tracked) { t.treeAt = time.Time{} }, time.Second, false},
	} {
		tr := known()
		tr.mainCPU, tr.treeAt = time.Second, start
		c.touch(tr)
		if got := tr.isUntouched(c.main); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestCPUUseAsksForAProbe(t *testing.T) {
	const ms = time.Millisecond
	long, now := start.Add(-time.Minute), start.Add(ms)
	for _, c := range []struct {
		name      string
		transport string
		before    time.Duration // of the main thread
		main      time.Duration // since
		cpu       time.Duration // of the process, since
		probed    time.Time
		active    bool
	}{
		{"stdio, idle", "stdio", 1, 0, 10 * ms, long, false},
		{"stdio, answering us", "stdio", 1, 0, 30 * ms, now, false},
		{"stdio, a message", "stdio", 1, ms, 0, long, true},
		{"HTTP, idle", "streamable-http", 1, 2 * ms, 10 * ms, long, false},
		{"HTTP, a message", "streamable-http", 1, 4 * ms, 0, long, true},
		{"main thread not known, idle", "stdio", 0, 0, 10 * ms, long, false},
		{"main thread not known, a call", "stdio", 0, 0, 20 * ms, long, true},
		{"main thread not known, answering us", "stdio", 0, 0, 20 * ms, now, false},
		{"main thread not known, a call and us", "stdio", 0, 0, 30 * ms, now, true},
		{"main thread known from now on", "stdio", 0, time.Hour, 0, long, false},
	} {
		tr := known()
		tr.cmd.Transport, tr.mainCPU, tr.probedAt = c.transport, c.before, c.probed
		main := c.before + c.main
		tr.noteStat(process.Stat{Identity: tr.in.Identity, CPU: c.cpu}, main, start.Add(time.Second))
		if tr.active != c.active {
			t.Errorf("%s: active %v", c.name, tr.active)
		}
	}
}

func TestFailuresTurnRedAndBack(t *testing.T) {
	tr := known()
	now := start
	fail := func() { tr.noteFailure(result{}, now) }
	state := func() monitor.State { in, _ := tr.instance(now); return in.State }
	for _, step := range []struct {
		after time.Duration
		want  monitor.State
	}{
		{0, monitor.StateNoProject}, {5 * time.Second, monitor.StateNoProject}, {5 * time.Second, monitor.StateNoProject}, {5 * time.Second, monitor.StateZombie},
	} {
		now = now.Add(step.after)
		if !tr.nextProbe.IsZero() && now.Before(tr.nextProbe) {
			t.Fatalf("the probe at %v is not due before %v", now, tr.nextProbe)
		}
		fail()
		if got := state(); got != step.want {
			t.Fatalf("after %v: %s, want %s", now.Sub(start), got, step.want)
		}
	}
	tr.noteAnswer(result{question: question{port: 24282}}, now)
	if got := state(); got != monitor.StateNoProject || tr.Failures != 0 {
		t.Errorf("one good answer heals: %s", got)
	}
}

func TestWorkDoesNotHealRed(t *testing.T) {
	tr := known()
	for _, after := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 15 * time.Second} {
		tr.noteFailure(result{}, start.Add(after))
	}
	tr.cpu += time.Hour
	now := start.Add(20 * time.Second)
	if in, _ := tr.instance(now); in.Cause != monitor.CauseUnreachable {
		t.Errorf("healed by using the CPU: %s", in.State)
	}
	tr.noteAnswer(result{question: question{port: 24282}}, now)
	if in, _ := tr.instance(now); in.State == monitor.StateZombie {
		t.Error("not healed by an answer")
	}
}

func TestActivity(t *testing.T) {
	n := func(calls int64) *int64 { return &calls }
	call, own := &serena.Task{Name: "Task-2:FindSymbolTool"}, &serena.Task{Name: "Task-3:init_project_services"}
	began, before, logged := start.Add(-time.Hour), start.Add(-time.Minute), start.Add(-time.Second)
	log := []serena.Record{{At: logged, Thread: call.Name}, {At: start, Thread: own.Name}}
	for _, c := range []struct {
		name string
		r    result
		want time.Time
	}{
		{"first look, no call yet", result{question: question{first: true}, tasked: true, task: own, calls: n(0)}, began},
		{"first look, a call", result{question: question{first: true}, tasked: true, task: call, calls: n(7), records: log}, logged},
		{"first look, a call and then its own task", result{question: question{first: true}, tasked: true, task: own, calls: n(7), records: log}, logged},
		{"first look, a call, but the log does not tell", result{question: question{first: true}, tasked: true, task: call, calls: n(7)}, time.Time{}},
		{"first look, nothing known", result{question: question{first: true}}, time.Time{}},
		{"nothing new", result{tasked: true, task: &serena.Task{Name: "Task-1:ListDirTool"}, calls: n(5)}, before},
		{"a call", result{tasked: true, task: call, calls: n(6)}, start},
		{"a failed call", result{tasked: true, task: call, calls: n(5)}, start},
		{"a call and then its own task", result{tasked: true, task: own, calls: n(6)}, start},
		{"its own task", result{tasked: true, task: own, calls: n(5)}, before},
		{"statistics cleared", result{tasked: true, task: own, calls: n(0)}, before},
		{"a call runs", result{tasked: true, task: own, queued: true, queue: []serena.Task{*call}}, start},
		{"its own task runs", result{queued: true, queue: []serena.Task{*own}}, before},
		{"the last task is not known", result{}, before},
	} {
		tr := known()
		tr.in.StartedAt, tr.in.LastActivity, tr.in.ToolCalls, tr.lastTask = began, before, n(5), "Task-1:ListDirTool"
		tr.noteUse(c.r, start)
		if !tr.in.LastActivity.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, tr.in.LastActivity, c.want)
		}
	}
}

// olderDashboard is that of a Serena before 1.0, which tells of no tasks.
type olderDashboard struct {
	Dashboards
	log []serena.Record
}

func (olderDashboard) LastExecution(context.Context, int) (*serena.Task, error) {
	return nil, serena.ErrNoRoute
}
func (olderDashboard) Heartbeat(context.Context, int) error { return nil }
func (olderDashboard) Queue(context.Context, int) ([]serena.Task, error) {
	return nil, serena.ErrNoRoute
}
func (olderDashboard) Overview(context.Context, int) (*serena.Overview, error) {
	return nil, serena.ErrNoRoute
}
func (olderDashboard) ToolCalls(context.Context, int) (int64, error) { return 7, nil }
func (d olderDashboard) Records(context.Context, int, int) ([]serena.Record, int, error) {
	return d.log, len(d.log), nil
}

// The log tells of the last call also where nothing else does, and of no health then.
func TestLastCallOfAnOlderVersion(t *testing.T) {
	d := olderDashboard{log: []serena.Record{{At: start, Thread: "Task-2:FindSymbolTool"}}}
	for _, first := range []bool{true, false} {
		r := result{question: question{port: 24282, first: first, logFrom: -1}}
		r.ask(t.Context(), d)
		r.readLog(t.Context(), d)
		if at := serena.LastCall(r.records); at.Equal(start) != first || r.logged {
			t.Errorf("first look %v: the last call at %v, logged %v", first, at, r.logged)
		}
	}
}

// A server that has had no call is shown before its log is read, which the next probe does.
func TestLogCanWait(t *testing.T) {
	for _, c := range []struct {
		calls  int64
		first  bool
		single bool
		waits  bool
	}{{calls: 0, first: true, waits: true}, {calls: 7, first: true}, {calls: 0}, {calls: 0, first: true, single: true}} {
		tr := known()
		tr.Answered, tr.OneLook, tr.overviewAt = !c.first, c.single, start
		d := &noCalls{calls: c.calls}
		r := result{question: tr.question(start)}
		r.ask(t.Context(), d)
		r.readLog(t.Context(), d)
		tr.noteAnswer(r, start)
		if waits := !d.read; waits != c.waits || waits && tr.nextProbe.IsZero() {
			t.Errorf("%+v: the log waits %v, the next probe at %v", c, waits, tr.nextProbe)
		}
	}
}

// noCalls is the dashboard of a server that has just started.
type noCalls struct {
	olderDashboard
	calls int64
	read  bool
}

func (*noCalls) LastExecution(context.Context, int) (*serena.Task, error) { return nil, nil }
func (*noCalls) Queue(context.Context, int) ([]serena.Task, error)        { return nil, nil }
func (d *noCalls) ToolCalls(context.Context, int) (int64, error)          { return d.calls, nil }
func (d *noCalls) Records(context.Context, int, int) ([]serena.Record, int, error) {
	d.read = true
	return nil, 0, nil
}

// What an overview tells is asked for until it comes.
func TestLostOverviewIsAskedForAgain(t *testing.T) {
	tr := known()
	tr.in.Version = "2.1.0"
	tr.noteAnswer(result{question: question{port: 24282}, changed: true}, start)
	if !tr.wantOverview || tr.nextProbe.IsZero() {
		t.Error("given up")
	}
	tr.nextProbe = time.Time{} // as when a probe comes back
	tr.noteAnswer(result{question: question{port: 24282}, overview: &serena.Overview{Version: "2.1.0"}}, start)
	if tr.wantOverview || !tr.nextProbe.IsZero() {
		t.Error("asked for although it has come")
	}
	tr.noteAnswer(result{question: question{port: 24282}, changed: true, noRoute: true}, start)
	if tr.wantOverview || tr.isOverviewDue(start) {
		t.Error("asked for although this version has none")
	}
}

// A server that works its CPU hard is not called unreachable for two minutes,
// although no call was seen when it last answered.
func TestHardWorkIsNotDeath(t *testing.T) {
	tr := known()
	now := start
	for now.Sub(start) < monitor.FailingWhenBusy {
		tr.noteFailure(result{}, now)
		if in, _ := tr.instance(now); in.State == monitor.StateZombie {
			t.Fatalf("red after %v", now.Sub(start))
		}
		now = now.Add(5 * time.Second)
		tr.cpu += 4 * time.Second
	}
	tr.noteFailure(result{}, now)
	if in, _ := tr.instance(now); in.Cause != monitor.CauseUnreachable {
		t.Error("not red after two minutes")
	}
}

func TestNoteListeners(t *testing.T) {
	listener := func(pid int, addr string) process.Listener {
		return process.Listener{PID: pid, Addr: netip.MustParseAddrPort(addr)}
	}
	const me, gopls = 1 << 30, 1<<30 + 1
	all := []process.Listener{
		listener(me, "127.0.0.1:24282"), listener(me, "0.0.0.0:24283"), listener(me, "192.168.1.5:9"),
		listener(gopls, "127.0.0.1:5"), listener(me, "[::1]:24284"), listener(me, "[::]:24285"), listener(me, "127.0.0.1:24282"),
	}
	tr := known()
	tr.port = 0
	tr.noteListeners(all, false, start)
	if want := []candidate{{24282, me}, {24283, me}, {24285, me}}; !slices.Equal(tr.candidates, want) || !tr.nextProbe.Equal(start) {
		t.Errorf("candidates %v, next probe %v", tr.candidates, tr.nextProbe)
	}
	tr.notDashboard = []int{24283}
	tr.noteListeners(all[:2], false, start)
	if len(tr.candidates) != 1 || tr.in.MCPURL != "" {
		t.Errorf("a stdio server's other port is not MCP: %v %q", tr.candidates, tr.in.MCPURL)
	}
	tr.cmd.Transport = "streamable-http"
	tr.noteListeners(all[:2], false, start)
	if tr.in.MCPURL != "http://127.0.0.1:24283/mcp" {
		t.Errorf("MCP %q", tr.in.MCPURL)
	}
	// A server without a dashboard: its other port is asked again now and then,
	// which does not make it starting again.
	tr.port, tr.Answered, tr.Born = 0, false, start.Add(-time.Hour)
	tr.noteListeners(all[1:2], true, start)
	if in, _ := tr.instance(start); in.State != monitor.StateLive || len(tr.candidates) != 1 {
		t.Errorf("%s, candidates %v", in.State, tr.candidates)
	}
}

func TestNoteTree(t *testing.T) {
	tr := known()
	me := tr.in.Identity
	other := monitor.Identity{PID: 3, Start: 3}
	tr.members = append(tr.members, other, monitor.Identity{PID: 4, Start: 4})
	tr.noteTree([]process.Stat{{Identity: me, RSSBytes: 100, CPU: time.Second}, {Identity: other, RSSBytes: 20, CPU: time.Second}}, start)
	if tr.in.RSSBytes != 120 || tr.in.Processes != 2 || tr.in.CPUPercent != nil || !slices.Equal(tr.members, []monitor.Identity{me, other}) {
		t.Errorf("first: %+v %v", tr.in, tr.members)
	}
	if tr.noteTree(nil, start); !slices.Contains(tr.members, me) {
		t.Error("the server is always a member")
	}
	tr.noteTree([]process.Stat{{Identity: me, CPU: 3 * time.Second}}, start.Add(4*time.Second))
	if tr.in.CPUPercent == nil || *tr.in.CPUPercent != 25 {
		t.Errorf("second: %v", tr.in.CPUPercent)
	}
	tr.noteTree([]process.Stat{{Identity: me, CPU: time.Second}}, start.Add(8*time.Second))
	if *tr.in.CPUPercent != 0 {
		t.Errorf("a child that ended takes its CPU time along: %v", *tr.in.CPUPercent)
	}
}

// Memory goes up and down without anybody doing anything.
func TestSteadyBytes(t *testing.T) {
	tr := known()
	for _, c := range []struct{ rss, want uint64 }{{1000, 1000}, {950, 1000}, {900, 1000}, {899, 899}, {950, 950}, {0, 0}, {10, 10}} {
		tr.noteTree([]process.Stat{{Identity: tr.in.Identity, RSSBytes: c.rss}}, time.Now())
		if got := tr.shownEvidence().SteadyBytes; got != c.want {
			t.Errorf("at %d: %d, want %d", c.rss, got, c.want)
		}
	}
}
