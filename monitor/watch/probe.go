package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// result is a question, and what a probe brings back to the loop for it.
type result struct {
	question
	owner        int   // pid that owns the port, 0 when not asked
	notDashboard []int // ports that answered as something else
	err          error // why there is no answer

	task      *serena.Task     // the last execution
	tasked    bool             // task is known
	queue     []serena.Task    // executions that run or wait
	queued    bool             // queue is known
	changed   bool             // something was done since the last probe
	overview  *serena.Overview // nil: not asked, or not answered in time
	noRoute   bool             // this version has no overview
	calls     *int64           // nil: not asked, or not answered in time
	uncounted bool             // calls was asked for, and not answered

	records []serena.Record // of the log
	logNext int             // where to go on from
	logged  bool            // they are known
}

// probe asks one instance, in a goroutine of its own.
func (l *loop) probe(ctx context.Context, t *tracked, now time.Time) {
	t.probing = true
	l.inFlight++
	ask := t.question(now)
	t.asked, t.waiting = t.waiting, nil
	t.active = false // a message from now on asks for another probe
	l.probes.Go(func() {
		r := result{question: ask, err: context.Canceled}
		select {
		case l.slots <- struct{}{}:
			r.err = nil
			if ask.whole && process.ListensOn(l.o.System, ask.port, ask.members...) != nil {
				r.err = errNotItsOwn
			} else {
				r.ask(ctx, l.o.Dashboards)
				r.readLog(ctx, l.o.Dashboards)
			}
			<-l.slots
		case <-ctx.Done():
		}
		select {
		case l.results <- r:
		case <-ctx.Done():
		}
	})
}

// question is what a probe needs to know.
type question struct {
	of         *tracked // for the loop alone; its identity may change while it is asked
	port       int      // 0 until one has answered
	candidates []candidate
	lastTask   string
	wasBusy    bool
	first      bool

	wantOverview bool // it was asked for and has not come yet, or is old
	held         bool // it waits until no tool runs, because it was not answered while one ran
	signOfLife   bool // no more is asked for
	logFrom      int  // the records of the log that are new
	logCanWait   bool // for the next probe, of a server that has had no call
	whole        bool // all is asked that tells whether it is at work, see Watch.Fresh
	members      []int
	tree         []monitor.Identity // as it was read last
	limits       limits
}

// question is what is to be asked of t now.
func (t *tracked) question(now time.Time) question {
	whole := len(t.waiting) > 0
	return question{
		signOfLife: !whole && t.signOfLifeSuffices(now), whole: whole,
		of: t, port: t.port, candidates: slices.Clone(t.candidates), members: t.listenerPIDs(), tree: t.tree,
		lastTask: t.lastTask, wasBusy: t.Busy, first: !t.Answered,
		wantOverview: t.isOverviewDue(now), held: t.overviewHeld, limits: t.limits,
		logFrom: t.health.next, logCanWait: !t.Answered && !whole && !t.OneLook,
	}
}

// errNotItsOwn says that somebody else answers where a server did.
var errNotItsOwn = errors.New("the port of its dashboard is no longer its own")

// ask asks for little, and for more only when that shows a change.
func (r *result) ask(ctx context.Context, c Dashboards) {
	if r.port == 0 {
		if r.findDashboard(ctx, c); r.err != nil {
			return
		}
	}
	limit := r.limits.probe
	if r.signOfLife {
		r.err = heartbeat(ctx, c, limit, r.port)
		return
	}
	if r.whole {
		limit = r.limits.answer
		r.countCalls(ctx, c, limit)
	}
	r.task, r.err = within(ctx, limit, r.port, c.LastExecution)
	r.tasked = r.err == nil
	if isAnswer(r.err) {
		// Versions before 1.0 do not have it, and a fault there is not the end.
		r.err = heartbeat(ctx, c, limit, r.port)
	}
	if r.err != nil {
		return
	}
	queue, err := within(ctx, limit, r.port, c.Queue)
	r.queue, r.queued = queue, err == nil

	r.changed = r.tasked && taskName(r.task) != r.lastTask || r.queued && r.wasBusy != (len(queue) > 0)
	// With a whole answer the queue comes last: what runs would be lost.
	if r.whole || !r.first && !r.wantOverview && !r.changed {
		return
	}
	// Up to 1.5.3 the overview waits behind the tool that runs, and each
	// request that gave up leaves a thread behind that waits on.
	if r.held = r.held && len(queue) > 0; !r.held {
		switch o, err := within(ctx, r.limits.answer, r.port, c.Overview); {
		case err == nil:
			r.overview = o
		case errors.Is(err, serena.ErrNoRoute):
			r.noRoute = true
		default:
			r.held = len(queue) > 0
		}
	}
	r.countCalls(ctx, c, r.limits.answer)
}

// countCalls asks how many calls the server has had.
func (r *result) countCalls(ctx context.Context, c Dashboards, limit time.Duration) {
	n, err := within(ctx, limit, r.port, c.ToolCalls)
	if r.uncounted = err != nil; !r.uncounted {
		r.calls = &n
	}
}

// isAnswer tells an error that came as an answer from silence.
func isAnswer(err error) bool {
	return errors.Is(err, serena.ErrNoRoute) || errors.Is(err, serena.ErrNotDashboard) || errors.Is(err, serena.ErrFault)
}

// findDashboard finds the port that answers as a dashboard.
func (r *result) findDashboard(ctx context.Context, c Dashboards) {
	for _, p := range r.candidates {
		r.err = heartbeat(ctx, c, r.limits.probe, p.port)
		switch {
		case r.err == nil:
			r.port, r.owner = p.port, p.pid
			return
		case errors.Is(r.err, serena.ErrNotDashboard), errors.Is(r.err, serena.ErrNoRoute):
			r.notDashboard = append(r.notDashboard, p.port)
		}
	}
}

func heartbeat(ctx context.Context, c Dashboards, limit time.Duration, port int) error {
	_, err := within(ctx, limit, port, func(ctx context.Context, port int) (any, error) { return nil, c.Heartbeat(ctx, port) })
	return err
}

// within asks the dashboard on a port, and gives it so long.
func within[T any](ctx context.Context, limit time.Duration, port int, ask func(context.Context, int) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return ask(ctx, port)
}

// taskName is "" where there is no task.
func taskName(t *serena.Task) string { return cmp.Or(t, new(serena.Task)).Name }

// absorb takes a probe's result into what is known.
func (l *loop) absorb(r result, now time.Time) {
	l.inFlight--
	t := r.of
	if l.tracked[t.in.Identity] != t {
		return // it is tracked no more
	}
	t.probing, t.probedAt, t.nextProbe = false, now, time.Time{}
	l.answers, t.asked = append(l.answers, t.asked...), nil
	for _, port := range r.notDashboard {
		if !slices.Contains(t.notDashboard, port) {
			t.notDashboard = append(t.notDashboard, port)
		}
		t.candidates = slices.DeleteFunc(t.candidates, func(c candidate) bool { return c.port == port })
		t.noteOtherPort(port)
	}
	if r.err != nil {
		if !t.in.Recognised && len(r.notDashboard) > 0 {
			l.untrack(t) // its word was wrong
			return
		}
		t.noteFailure(r, now)
		return
	}
	// A child holds the sockets of its parent, too, until it has become another program.
	if r.owner != 0 && r.owner != t.in.Identity.PID && !t.isLaunched() && l.stillRunsServer(t, r.owner) && process.ListensOn(l.o.System, r.port, t.in.Identity.PID) != nil {
		l.moveToOwner(t, r.owner)
		l.restore(t)
	}
	t.noteAnswer(r, now)
	if r.logged || now.Sub(t.treeAt) >= time.Second {
		tree := l.sampleTree(t, now)
		l.noteHealth(t, r, tree, now)
	}
}

func (t *tracked) noteFailure(r result, now time.Time) {
	foundElse := t.port == 0 && len(t.candidates) == 0 // what listened was something else
	if foundElse || t.Stopped || errors.Is(r.err, context.Canceled) {
		return
	}
	t.in.Evidence.IdleSince = time.Time{}
	if t.Failures == 0 {
		t.FailingSince, t.cpuAtFailure = now, t.cpu
	}
	t.Failures++
	t.Unreachable = t.judge(now).Cause == monitor.CauseUnreachable
	switch {
	case t.Unreachable:
		t.nextProbe = now.Add(whileRed)
	case !t.Answered && t.waitsForDashboard():
		t.nextProbe = now.Add(t.limits.starting)
	default:
		t.nextProbe = now.Add(afterFailure)
	}
}

func (t *tracked) noteAnswer(r result, now time.Time) {
	in := &t.in
	t.port, t.Answered, t.Failures, t.Unreachable = r.port, true, 0, false
	t.health.lostDashboard = nil
	t.candidates = nil
	in.Port, in.DashboardURL, in.LastHeartbeat = r.port, serena.DashboardURL(r.port), wall(now)
	if r.signOfLife {
		t.calls.treeBefore = r.tree
		return
	}
	in.Busy = nil
	if r.queued {
		busy := len(r.queue) > 0
		t.Busy, in.Busy = busy, &busy
	}
	t.overviewHeld = r.held
	t.noteUse(r, now)
	t.wantOverview = t.wantOverview || r.changed || r.first
	if r.overview != nil {
		t.noteOverview(r.overview)
	}
	if r.overview != nil || r.noRoute {
		t.wantOverview, t.overviewAt = false, now
	}
	switch {
	case t.wantOverview && in.Version == "":
		t.nextProbe = now.Add(t.limits.starting) // "not yet available" right after the start
	case t.Busy || t.wantOverview || t.calls.isAnyMissing() || r.first && !r.logged:
		t.nextProbe = now.Add(t.limits.busy)
	}
}

// wall is a time as a view is shown it: the time of day.
func wall(now time.Time) time.Time { return now.Round(0) }

func (t *tracked) noteOverview(o *serena.Overview) {
	in := &t.in
	t.Project = o.Project != nil
	in.ProjectName, in.ProjectRoot = "", ""
	if o.Project != nil {
		in.ProjectName, in.ProjectRoot = o.Project.Name, o.Project.Path
	}
	in.Context, in.Version = cmp.Or(o.Context.Name, in.Context), cmp.Or(o.Version, in.Version)
	in.Evidence.KeepsState = cmp.Or(o.KeepsState(), in.Evidence.KeepsState)
	in.Modes = nil
	for _, m := range o.Modes {
		in.Modes = append(in.Modes, m.Name)
	}
}

func mcpURL(transport string, port int) string {
	path := "/mcp"
	if transport == "sse" {
		path = "/sse"
	}
	return "http://127.0.0.1:" + strconv.Itoa(port) + path
}
