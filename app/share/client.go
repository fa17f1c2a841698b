package share

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"lamplighter/monitor"
)

// Client is a client that shares a server, for one conversation. It is safe for
// concurrent use. It keeps its group until Move or Detach.
type Client struct {
	broker *Broker

	// Guarded by the broker's mu.
	group  *group
	plan   *Plan // is never changed in place
	client monitor.Client
	gone   bool
}

// Attach makes a client share the server of a plan, which is not started before it
// is needed. The plan must have a key.
func (b *Broker) Attach(plan Plan, client monitor.Client) *Client {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &Client{broker: b, client: client}
	m.join(&plan)
	return m
}

// Move makes the client share the server of another plan, as Attach does: what it asks
// from then on goes there. What it has asked before stays with the server before, which
// then is one that a client has left. It returns the plan before. The plan must have a key.
func (m *Client) Move(plan Plan) (before Plan) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	before = *m.plan
	if !m.gone {
		m.part()
		m.join(&plan)
	}
	return before
}

// join takes the client into the group of a plan. The caller holds mu.
func (m *Client) join(plan *Plan) {
	g := m.broker.groupOf(plan)
	m.group, m.plan, g.plan = g, plan, plan
	if len(g.members) == 0 {
		g.used = time.Now() // who comes is about to ask for something
	}
	g.members = append(g.members, m)
	m.broker.change()
}

// part takes the client out of its group. The caller holds mu.
func (m *Client) part() {
	g := m.group
	g.members = slices.DeleteFunc(g.members, func(other *Client) bool { return other == m })
	if len(g.members) == 0 {
		g.used = time.Now()
	}
	m.broker.change()
}

// Project is the project of the server that the client shares now, "" when it has none.
func (m *Client) Project() string {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	return m.plan.Spec.Project
}

// Endpoint is one run of a server.
type Endpoint struct {
	URL       string
	Transport http.RoundTripper
	Shut      <-chan struct{} // closed when nothing more is to be sent to it: it does not answer, or is about to be ended; either may pass
	Gone      <-chan struct{} // closed when its process has ended, or was replaced because it hung
	Why       func() string   // after Gone: how it was lost, a part of a sentence: "it was killed"
}

// whyTime is how long it is waited for how a server has ended, which its keeper tells a
// moment after its process has.
const whyTime = time.Second

// Acquire returns the server. It starts or wakes it, or waits for who does, until
// ctx ends; the start goes on then. The error is for the user. It is to be called
// after Began.
func (m *Client) Acquire(ctx context.Context) (Endpoint, error) {
	b := m.broker
	r, err := b.acquire(ctx, m)
	if err != nil {
		return Endpoint{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return Endpoint{
		URL: r.server.MCPURL(), Transport: r.transport, Shut: r.open.Done(), Gone: r.gone.Done(),
		Why: func() string {
			select {
			case <-r.server.Done():
			case <-time.After(whyTime):
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			return r.how()
		},
	}, nil
}

// Began says that a request has come which needs the server. It is not parked until
// ended is called, once: the request has been answered, or never will be. Where Shut is
// closed by then the request waits for Acquire.
func (m *Client) Began() (ended func()) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	g := m.group
	g.inFlight++
	g.held = false
	b.change()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		g.inFlight--
		g.used = time.Now()
		b.change()
	}
}

// Lingering says that what was asked may go on unseen for that long.
func (m *Client) Lingering(d time.Duration) {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	g, now := m.group, time.Now()
	g.used = now
	if until := now.Add(d); until.After(g.until) {
		g.until = until
	}
}

// What is kept of the answers of a server, so that a client is answered while it
// starts. Clients decide what they are asked under, so that there are limits.
const (
	mostAnswers   = 16
	longestAnswer = 1 << 20 // bytes
)

// question is what was asked, under what, and under which state of the settings.
type question struct{ settings, method, under string }

// Cached returns what the server answered to the method, while it hangs, or while it does
// not run and the settings are the same. The caller must not change it.
func (m *Client) Cached(method, under string) (answer []byte, ok bool) {
	b := m.broker
	b.mu.Lock()
	g, settings, hangs := m.group, m.plan.Fingerprint, m.group.run.isHung()
	if hangs {
		began := g.run.settings // which count for it, also when the files have changed
		settings = func() string { return began }
	}
	possible := (hangs || !g.run.usable()) && len(g.answers) > 0 &&
		g.crashes.refuse(time.Now()) == nil // an error is better than a server that is not to be had
	b.mu.Unlock()
	if !possible {
		return nil, false
	}
	asked := question{settings(), method, under} // reads files
	b.mu.Lock()
	defer b.mu.Unlock()
	answer, ok = g.answers[asked]
	return answer, ok
}

// Store keeps an answer of the server that runs for Cached.
func (m *Client) Store(method, under string, result []byte) {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	g := m.group
	if m.gone || g.run == nil || g.run.settings == "" || len(result) > longestAnswer {
		return
	}
	if g.answers == nil || len(g.answers) >= mostAnswers {
		g.answers = map[question][]byte{}
	}
	g.answers[question{g.run.settings, method, under}] = slices.Clone(result)
}

// Forget drops what Store has kept: the server said that it has changed.
func (m *Client) Forget() {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	m.group.answers = nil
	if r := m.group.run; r != nil {
		r.settings = "" // they no longer say what it answers
	}
}

// mostSessions is how many sessions of its REPL a Serena remembers: it forgets the
// oldest (serena/session.py of 2.1.0, max_sessions).
const mostSessions = 100

// Seen says that a request names this session of the server's REPL. It is to be
// called after Began, and before the request is sent.
func (m *Client) Seen(session string) {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	g := m.group
	g.seen = slices.DeleteFunc(g.seen, func(other string) bool { return other == session })
	g.seen = append(g.seen, session)
	g.seen = g.seen[max(len(g.seen)-mostSessions, 0):]
}

// Name tells better who the client is: what is not zero replaces what is known.
func (m *Client) Name(client monitor.Client) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	m.client.Identity, m.client.Name = cmp.Or(client.Identity, m.client.Identity), cmp.Or(client.Name, m.client.Name)
	b.change()
}

// Detach is the end of the lease. The server stays for a while, for who comes
// back. It may be called again.
func (m *Client) Detach() {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if !m.gone {
		m.gone = true
		m.part()
	}
}
