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
	group   *group
	plan    *Plan // is never changed in place
	client  monitor.Client
	park    func() bool
	hang    func(text string)
	telling bool // hang is being called
	gone    bool
}

// Attach makes a client share the server of a plan, which is not started before it
// is needed. It waits a while for what an earlier run of this program has left,
// so that a client which comes back finds its server; ctx ends that. The plan
// must have a key.
func (b *Broker) Attach(ctx context.Context, plan Plan, client monitor.Client) *Client {
	b.await(ctx, plan.Key)
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &Client{broker: b, client: client}
	m.join(&plan)
	return m
}

// Move makes the client share the server of another plan, as Attach does: what it asks
// from then on goes there. What it has asked before stays with the server before, which
// then is one that a client has left. back undoes it. The plan must have a key.
func (m *Client) Move(ctx context.Context, plan Plan) (back func()) {
	b := m.broker
	b.await(ctx, plan.Key)
	b.mu.Lock()
	defer b.mu.Unlock()
	before := m.plan
	m.change(&plan)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		m.change(before)
	}
}

// change gives the client another group. The caller holds mu.
func (m *Client) change(plan *Plan) {
	if !m.gone {
		m.part()
		m.join(plan)
	}
}

// join takes the client into the group of a plan. The caller holds mu.
func (m *Client) join(plan *Plan) {
	b := m.broker
	g := b.groupOf(plan.Key)
	m.group, m.plan = g, plan
	g.plan = plan
	g.kind, g.where = plan.Spec.Template.Name, plan.Spec.Project
	if !g.runs() && g.reason == "" {
		g.reason = "it starts with the first request"
	}
	if len(g.members) == 0 {
		g.turned = time.Now() // who comes is about to ask for something
	}
	g.members = append(g.members, m)
	b.rest()
	b.change()
}

// part takes the client out of its group. The caller holds mu.
func (m *Client) part() {
	b, g := m.broker, m.group
	g.members = slices.DeleteFunc(g.members, func(other *Client) bool { return other == m })
	g.wait = time.Time{}
	if len(g.members) == 0 {
		g.turned = time.Now()
		b.leftIdle(g)
	}
	b.change()
}

// Project is the project of the server that the client shares now, "" when it has none.
func (m *Client) Project() string {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	return m.plan.Spec.Project
}

// Acquire returns the server. It starts or wakes it, or waits for who does, until
// ctx ends; the start goes on then. The error is for the user. It is to be called
// after Began.
func (m *Client) Acquire(ctx context.Context) (Endpoint, error) {
	r, err := m.broker.acquire(ctx, m)
	if err != nil {
		return Endpoint{}, err
	}
	return m.broker.forLease(r), nil
}

// Endpoint is one run of a server.
type Endpoint struct {
	URL       string
	Transport http.RoundTripper
	Hung      <-chan struct{} // closed when it is found not to answer any more, which may pass; nil = never
	Gone      <-chan struct{} // closed when its process has ended, or was replaced because it hung; nil = never
	Why       func() string   // after Gone: how it was lost, a part of a sentence: "it was killed"; may be nil
}

// How long it may take to learn how a server has ended: usually, and when nothing
// is known of it by then.
const (
	whyTime     = 250 * time.Millisecond
	whyLongTime = 2 * time.Second
)

// howUnknown is what launch.Server.Ending says as long as it has not heard more.
const howUnknown = "exited"

func (b *Broker) forLease(r *run) Endpoint {
	b.mu.Lock()
	hung := r.hangs
	b.mu.Unlock()
	return Endpoint{
		URL: r.server.MCPURL(), Transport: r.transport, Hung: hung, Gone: r.gone,
		Why: func() string {
			b.mu.Lock()
			known := r.ending != ""
			b.mu.Unlock()
			// Its keeper tells it a moment after the process has ended.
			if !known && !r.doneWithin(whyTime) && r.server.Ending() == howUnknown {
				r.doneWithin(whyLongTime - whyTime)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			return r.how()
		},
	}
}

func (r *run) doneWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-r.server.Done():
		return true
	case <-timer.C:
		return false
	}
}

// Began says that a request has come which needs the server. It is not parked until
// ended is called, once: the request has been answered, or never will be.
func (m *Client) Began() (ended func()) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.gone {
		return func() {}
	}
	g := m.group
	g.inFlight++
	g.held = false
	b.shown.Ring() // nothing is due sooner by that
	if g.run.isHung() {
		b.hangs.Ring()
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		g.inFlight--
		g.used = time.Now()
		b.shown.Ring()
	}
}

// Lingering says that what was asked may go on unseen for that long.
func (m *Client) Lingering(d time.Duration) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if until := time.Now().Add(d); !m.gone && until.After(m.group.until) {
		m.group.until = until
		b.change()
	}
}

// Cached returns what the server answered to the method under the same settings,
// while it does not run, or hangs. The caller must not change it.
func (m *Client) Cached(method, under string) ([]byte, bool) {
	b := m.broker
	b.mu.Lock()
	g, fingerprint := m.group, m.plan.Fingerprint
	possible := fingerprint != nil && !g.run.answers() && len(g.cache.answers) > 0
	b.mu.Unlock()
	if !possible {
		return nil, false
	}
	settings := fingerprint() // reads files
	b.mu.Lock()
	defer b.mu.Unlock()
	if g.run.answers() || g.crashes.refuse(time.Now()) != nil {
		return nil, false // an error is better than a server that is not to be had
	}
	return g.cache.get(settings, question{method, under})
}

// Store keeps an answer of the server that runs for Cached.
func (m *Client) Store(method, under string, result []byte) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := m.group.run; !m.gone && r != nil {
		m.group.cache.put(r.settings, question{method, under}, slices.Clone(result))
		b.limitKept()
	}
}

// limitKept drops what was kept of the groups that were used the longest ago, while
// all keep too much. The caller holds mu.
func (b *Broker) limitKept() {
	kept := 0
	var groups []*group
	for _, g := range b.groups {
		if n := g.cache.size(); n > 0 {
			kept += n
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(x, y *group) int { return cmp.Or(x.used.Compare(y.used), cmp.Compare(x.key, y.key)) })
	for _, g := range groups {
		if kept <= mostKept {
			return
		}
		kept -= g.cache.size()
		g.cache.clear()
	}
}

// Forget drops what Store has kept: the server said that it has changed.
func (m *Client) Forget() {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	m.group.cache.clear()
	if r := m.group.run; r != nil {
		r.settings = "" // they no longer say what it answers
	}
}

// Seen says that a request names this session of the server's REPL. It is to be
// called before the request is sent.
func (m *Client) Seen(session string) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	generation := b.generation + 1 // of the next one at the latest
	if m.group.run.usable() {
		generation = m.group.run.generation
	}
	m.group.seen.add(session, generation)
}

// OnPark sets what is asked before the server is ended: the lease closes its MCP
// session, or refuses because something is in flight. It is called without locks
// of the broker held.
func (m *Client) OnPark(park func() bool) {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	m.park = park
}

// OnHang sets what is told again and again, in words, while a request of the client
// waits for a server that does not answer. It is called without locks of the broker held.
func (m *Client) OnHang(tell func(text string)) {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	m.hang = tell
}

// tellHang tells it, unless the client has not taken what was told before.
func (m *Client) tellHang(text string) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	tell := m.hang
	if tell == nil || m.telling {
		return
	}
	m.telling = true
	b.busy.Go(func() {
		tell(text)
		b.mu.Lock()
		defer b.mu.Unlock()
		m.telling = false
	})
}

// Name tells better who the client is: what is not zero replaces what is known.
func (m *Client) Name(client monitor.Client) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if client.PID != 0 {
		m.client.Identity = client.Identity
	}
	if client.Name != "" {
		m.client.Name = client.Name
	}
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
