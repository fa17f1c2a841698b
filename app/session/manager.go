package session

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lamplighter/app/launch"
	"lamplighter/app/project"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// Options are what a Manager needs. The first three and Log are needed.
type Options struct {
	Start Starter
	// Limit is how many sessions there may be at once; it may change.
	Limit func() int
	// Spec says how to start the server of that name, "" being the usual one,
	// for a project. The error for a name that is not known Is ErrNoServer.
	Spec func(project, server string) (launch.Spec, error)
	Log  *slog.Logger

	// Runs reports whether a process still runs; nil: the system is asked.
	Runs func(monitor.Identity) bool
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Manager knows all sessions. It is safe for concurrent use.
type Manager struct {
	options Options
	looks   project.Looks

	mu      sync.Mutex
	closed  bool
	all     []*entry // those that start, run or end, in the order of the requests
	dead    memory   // those that have died by themselves
	running sync.WaitGroup
}

// entry is one session. Its fields are guarded by the manager's mu, except
// those that never change.
type entry struct {
	spec    launch.Spec // never changes
	asker   *asker      // never changes
	askedAt time.Time   // never changes
	giveUp  func()      // never changes; ends its start

	server Server  // nil while it starts
	ending *ending // nil while nobody ends it
}

// ending is one try to end a session. Who waits for done may read the rest.
type ending struct {
	done   chan struct{}
	status Status
	err    error
}

// New makes a manager without sessions. It starts servers from now on, until
// Serve ends.
func New(o Options) *Manager {
	if o.Runs == nil {
		o.Runs = runs
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Manager{options: o, looks: project.Looks{Limit: lookTime, Most: mostLooks}}
}

// runs asks the system. What cannot be seen counts as running: then it is ended
// and not taken for gone.
func runs(id monitor.Identity) bool { return process.MayLive(process.Local(), id) }

// Serve waits until ctx ends; then nothing is started any more, what starts is
// given up, and all sessions are ended. It returns when that is done, with the
// error of ctx. It can be called again.
func (m *Manager) Serve(ctx context.Context) error {
	m.mu.Lock()
	m.closed = false
	m.mu.Unlock()
	<-ctx.Done()
	m.close()
	return ctx.Err()
}

func (m *Manager) close() {
	m.mu.Lock()
	m.closed = true
	for _, e := range m.all {
		if e.server == nil {
			e.giveUp()
		} else {
			m.end(e, "the end of lamplighter")
		}
	}
	m.mu.Unlock()
	m.running.Wait()
}

// Request starts a server for a client and returns its session when it takes
// MCP. When ctx ends before, the server is ended, because nobody would know it.
// The error Is one of those above, a *TooMany, or that of the Starter.
func (m *Manager) Request(ctx context.Context, r Request) (Session, error) {
	dir, err := checkPath(ctx, &m.looks, r.ProjectPath)
	if err != nil {
		return Session{}, err
	}
	spec, err := m.options.Spec(dir, r.Server)
	if err != nil {
		return Session{}, err
	}
	spec.Project, spec.Lifetime = dir, launch.Session
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e, err := m.admit(spec, r.AskedBy, cancel)
	if err != nil {
		return Session{}, err
	}
	defer m.leave(e)
	server, err := m.options.Start.Start(ctx, e.spec)
	e.asker.wait()
	return m.settle(ctx, e, server, err)
}

// admit takes a place for one that is to start. The caller calls leave.
func (m *Manager) admit(spec launch.Spec, askedBy func() monitor.Client, giveUp func()) (*entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notice()
	if m.closed {
		return nil, ErrEnding
	}
	if limit := m.options.Limit(); len(m.all) >= limit {
		return nil, &TooMany{Live: len(m.all), Limit: limit}
	}
	e := &entry{spec: spec, asker: findAsker(askedBy), askedAt: m.options.Now(), giveUp: giveUp}
	e.spec.AskedBy = e.asker.wait
	m.all = append(m.all, e)
	m.running.Add(1)
	return e, nil
}

// leave is the end of a start, which gives its place back unless it has become
// a session.
func (m *Manager) leave(e *entry) {
	defer m.running.Done()
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.server == nil {
		m.remove(e)
	}
}

// settle makes a session of what was started, or ends it when nobody wants it
// any more.
func (m *Manager) settle(ctx context.Context, e *entry, server Server, err error) (Session, error) {
	m.mu.Lock()
	closed, unwanted := m.closed, ctx.Err() != nil
	if err != nil {
		m.mu.Unlock()
		switch {
		case closed:
			return Session{}, ErrEnding
		case unwanted:
			return Session{}, ErrNotWanted
		}
		return Session{}, err
	}
	id := server.Identity().PID
	// The system gives a pid anew when its process has gone: who had it is no
	// session any more.
	if before := m.find(id); before != nil {
		m.remove(before)
	}
	m.dead.take(id)
	e.server = server
	if !closed && !unwanted {
		defer m.mu.Unlock()
		return m.show(e), nil
	}
	end := m.end(e, "who asked has gone")
	m.mu.Unlock()
	<-end.done
	switch {
	case closed:
		return Session{}, ErrEnding
	case end.err != nil:
		m.options.Log.Error("a session that nobody waits for any more could not be ended", "session_id", id, "error", end.err)
	}
	return Session{}, ErrNotWanted
}

// Release ends a session and returns when all of it has gone. The error Is
// ErrUnknown when there is none with that id, or says why something of it still
// runs: then the session stays known, and can be released again.
//
// Whoever releases a session that is being ended waits and is answered alike.
// One that died by itself is AlreadyGone to the first who releases it, and
// unknown from then on, as one that was released. When ctx ends before, the
// ending goes on. By says in words who wants it.
func (m *Manager) Release(ctx context.Context, id int, by string) (Status, error) {
	m.mu.Lock()
	m.notice()
	e := m.find(id)
	switch {
	case e == nil && m.dead.take(id):
		m.mu.Unlock()
		return AlreadyGone, nil
	case e == nil:
		m.mu.Unlock()
		return "", ErrUnknown
	case e.ending == nil && m.closed: // that was tried, and failed
		m.mu.Unlock()
		return "", ErrEnding
	}
	end := m.end(e, by)
	m.mu.Unlock()
	select {
	case <-end.done:
		return end.status, end.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// end begins to end a session that has a server, or joins who does that. The
// caller holds mu.
func (m *Manager) end(e *entry, by string) *ending {
	if e.ending != nil {
		return e.ending
	}
	t := &ending{done: make(chan struct{}), status: Terminated}
	if !m.options.Runs(e.server.Identity()) {
		t.status = AlreadyGone // what it has left behind is ended
	}
	e.ending = t
	m.running.Go(func() {
		defer close(t.done)
		t.err = e.server.End(context.Background(), by)
		m.mu.Lock()
		defer m.mu.Unlock()
		e.ending = nil
		if t.err != nil {
			t.status = ""
			return
		}
		m.remove(e)
	})
	return t
}

// List returns all sessions in the order in which they were asked for.
func (m *Manager) List() []Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notice()
	list := make([]Session, len(m.all))
	for i, e := range m.all {
		list[i] = m.show(e)
	}
	return list
}

// notice takes note of sessions that have ended by themselves. It is called
// before anything that could tell the difference, so nobody has to wait for
// them. The caller holds mu.
func (m *Manager) notice() {
	m.all = slices.DeleteFunc(m.all, func(e *entry) bool {
		if e.server == nil || e.ending != nil {
			return false
		}
		select {
		case <-e.server.Done():
			m.dead.add(e.server.Identity().PID)
			return true
		default:
			return false
		}
	})
}

// find is the session with that id, nil when there is none. The caller holds mu.
func (m *Manager) find(id int) *entry {
	for _, e := range m.all {
		if e.server != nil && e.server.Identity().PID == id {
			return e
		}
	}
	return nil
}

// remove forgets a session. The caller holds mu.
func (m *Manager) remove(e *entry) {
	m.all = slices.DeleteFunc(m.all, func(other *entry) bool { return other == e })
}

// show is a session as it is now. The caller holds mu.
func (m *Manager) show(e *entry) Session {
	s := Session{State: StateStarting, ProjectPath: e.spec.Project, Server: e.spec.Template.Name, StartedAt: e.askedAt}
	if client := e.asker.now(); client.PID > 0 {
		s.AskedBy = &client
	}
	if e.server == nil {
		return s
	}
	s.State, s.ID, s.StartedAt = StateRunning, e.server.Identity().PID, e.server.StartedAt()
	s.Port, s.DashboardPort, s.MCPURL = e.server.Port(), e.server.DashboardPort(), e.server.MCPURL()
	if e.ending != nil || !m.options.Runs(e.server.Identity()) {
		s.State = StateEnding
	}
	return s
}
