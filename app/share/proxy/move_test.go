package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// moveWorld has a server for each project that is needed, and one without.
type moveWorld struct {
	mu      sync.Mutex
	starts  int
	servers []*moveServer // all there ever were
	broken  bool          // none can be started
}

type moveServer struct {
	*fakeServer
	up *upstream
}

func (s *moveServer) MCPURL() string { return "http://" + s.ID() }

func (s *moveServer) dies() {
	s.once.Do(func() {
		s.up.die()
		close(s.done)
	})
}

// End takes a while, in which nothing may be asked of it any more.
func (s *moveServer) End(context.Context, string) error {
	s.up.mu.Lock()
	s.up.ends = true
	for _, c := range s.up.calls {
		s.up.late = append(s.up.late, c.id)
	}
	s.up.mu.Unlock()
	time.Sleep(10 * time.Second)
	s.dies()
	return nil
}

func (w *moveWorld) Launch(_ context.Context, spec launch.Spec) (share.Server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return nil, errors.New("it is broken")
	}
	w.starts++
	s := &moveServer{&fakeServer{key: spec.Key, dir: spec.Project, id: monitor.Identity{PID: 1 << 22, Start: uint64(w.starts)}, done: make(chan struct{})}, newUpstream()}
	s.up.alive = true
	w.servers = append(w.servers, s)
	return s, nil
}

func (w *moveWorld) Inherited() <-chan struct{} { return (&world{}).Inherited() }

func (w *moveWorld) all() []*moveServer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.servers)
}

// moving is a client whose requests the servers of the world carry.
type moving struct {
	*share.Client
	world *moveWorld
}

func (m moving) Acquire(ctx context.Context) (share.Endpoint, error) {
	e, err := m.Client.Acquire(ctx)
	for _, s := range m.world.all() {
		if s.MCPURL() == e.URL {
			e.Transport = s.up
		}
	}
	return e, err
}

// take takes a call in flight, of any server.
func (w *moveWorld) take(t *rapid.T) *fakeCall {
	servers := slices.DeleteFunc(w.all(), func(s *moveServer) bool {
		s.up.mu.Lock()
		defer s.up.mu.Unlock()
		return len(s.up.calls) == 0
	})
	if len(servers) == 0 {
		return nil
	}
	return servers[rapid.IntRange(0, len(servers)-1).Draw(t, "server")].up.take(rapid.IntRange(0, 9).Draw(t, "which"))
}

// does carries a call out.
func (c *fakeCall) does() {
	c.world.mu.Lock()
	c.world.carried[c.id]++
	c.world.mu.Unlock()
	c.each(resultLine([]byte(c.id), []byte(`{"content":[]}`)))
	c.end(nil)
}

// mover is a client, with all that it has asked.
type mover struct {
	modelShim
	number  int
	begins  string // the project of its command
	process *leasing
	member  *share.Client
	asked   []asked
}

// asked is an edit, or the activation of a project.
type asked struct {
	id       string
	seq      uint64
	activate string
}

func (m *mover) start(w *moveWorld, b *share.Broker) {
	m.mu.Lock()
	begun, again, project := m.begun, slices.Clone(m.waiting), m.begins
	if m.moved {
		project = m.project
	}
	m.mu.Unlock()
	p := &leasing{shim: &m.modelShim, ended: make(chan error, 1)}
	m.member = b.Attach(planFor(project), monitor.Client{})
	p.lease = sessionOf(SessionOptions{
		Servers: moving{m.member, w}, Out: p, Initialize: []byte(begun[0]), Initialized: []byte(begun[1]),
		Plan: func(_ context.Context, project string) (share.Plan, error) {
			if project == "/alone" {
				return share.Plan{Alone: "it cannot be shared"}, nil
			}
			return planFor(project), nil
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	p.leave = cancel
	go func() { p.ended <- p.lease.Serve(ctx) }()
	for _, n := range again {
		p.lease.Take(n.seq, []byte(n.line))
	}
	m.process = p
}

func (m *mover) ask(activate string) {
	id := fmt.Sprint(m.number*1000 + len(m.asked) + 1)
	params := `{"name":"replace_content","arguments":{}}`
	if activate != "" {
		params = fmt.Sprintf(`{"name":"activate_project","arguments":{"project":%q}}`, activate)
	}
	m.asked = append(m.asked, asked{id, m.seq + 1, activate})
	m.put(m.process, id, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":`+params+`}`)
}

// believes is the project of each edit, as far as the client has been told: that of the
// last activation before it in its order that has succeeded. After one whose fate is not
// known there is none.
func (m *mover) believes() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	project, active, edits := m.begins, m.begins != "", map[string]string{}
	for _, a := range m.asked {
		fate := strings.Join(m.fates[a.seq], "")
		switch {
		case a.activate == "":
			edits[a.id] = project
			if active && strings.Contains(fate, "No project is active") {
				m.wrong = append(m.wrong, a.id+" was refused, although a project is active")
			}
		case fate == "settled" || strings.Contains(fate, "The project was not activated"): // it is what it was, or was about to change
			active = false
		case wire.Split([]byte(fate)).Result != nil:
			project, active = a.activate, true
		default:
			project, active = "", false
		}
	}
	return edits
}

// story is what the client has asked and been told.
func (m *mover) story() (text string) {
	for _, a := range m.asked {
		text += fmt.Sprintf("\n%s %s: %s", a.id, cmp.Or(a.activate, "edit"), m.fates[a.seq])
	}
	return text
}

// TestNoEditIsMisplaced lets ten clients change among five projects, with edits between,
// while servers die, cannot be started, are parked or restarted, and lamplighter is started
// again: each edit is made in the project that its client knows it has, or not at all, none
// is made twice, and none is asked of a server that is about to end.
func TestNoEditIsMisplaced(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inOneBubble(t, func() {
			w := &moveWorld{}
			o := brokerOptions(w)
			o.Idle = func() time.Duration { return time.Minute }
			b := share.New(o)
			ctx, end := context.WithCancel(context.Background())
			served := make(chan error, 1)
			go func() { served <- b.Serve(ctx) }()
			projects := []string{"/a", "/b", "/c", "/d", "/e"}
			var clients []*mover
			for i := range 10 {
				m := &mover{number: i + 1, begins: append(projects, "")[i%6]}
				m.modelShim = modelShim{accepted: map[uint64]bool{}, fates: map[uint64][]string{}, ids: map[uint64]string{}}
				m.start(w, b)
				m.put(m.process, "0", initializeLine)
				m.put(m.process, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				clients = append(clients, m)
			}
			leave := sync.OnceFunc(func() { // also when the check has failed
				for _, m := range clients {
					m.process.leave()
					<-m.process.ended
					m.member.Detach()
				}
				for _, s := range w.all() {
					s.dies()
				}
				end()
				<-served
				time.Sleep(2 * unseen)
			})
			defer leave()
			client := func(t *rapid.T) *mover { return clients[rapid.IntRange(0, len(clients)-1).Draw(t, "client")] }
			synctest.Wait()
			rt.Repeat(map[string]func(*rapid.T){
				"edit":     func(t *rapid.T) { client(t).ask("") },
				"activate": func(t *rapid.T) { client(t).ask(rapid.SampledFrom(append(projects, "/alone")).Draw(t, "project")) },
				"activate and edit": func(t *rapid.T) {
					m := client(t)
					m.ask(rapid.SampledFrom(projects).Draw(t, "project"))
					m.ask("")
				},
				"cancel": func(t *rapid.T) {
					if m := client(t); len(m.asked) > 0 {
						id := m.asked[rapid.IntRange(0, len(m.asked)-1).Draw(t, "request")].id
						m.put(m.process, "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
					}
				},
				"answer": func(t *rapid.T) {
					if c := w.take(t); c != nil {
						c.does()
					}
				},
				"die": func(t *rapid.T) {
					if servers := w.all(); len(servers) > 0 {
						servers[rapid.IntRange(0, len(servers)-1).Draw(t, "server")].dies()
					}
				},
				"restart": func(t *rapid.T) {
					if servers := w.all(); len(servers) > 0 {
						s := servers[rapid.IntRange(0, len(servers)-1).Draw(t, "server")]
						go func() { _, _ = b.Restart(ctx, s.id, false, func(ctx context.Context) error { return s.End(ctx, "") }) }()
					}
				},
				"broken":     func(*rapid.T) { w.mu.Lock(); w.broken = !w.broken; w.mu.Unlock() },
				"some hours": func(*rapid.T) { time.Sleep(3 * time.Hour) }, // also after which a start may be tried again
				"another process": func(t *rapid.T) {
					m := client(t)
					m.lose(m.process)
					m.member.Detach()
					m.start(w, b)
				},
				"": func(t *rapid.T) {
					if rapid.Bool().Draw(t, "settle") {
						synctest.Wait()
					}
				},
			})
			w.mu.Lock()
			w.broken = false
			w.mu.Unlock()
			for untold := 1; untold > 0; {
				time.Sleep(time.Minute)
				synctest.Wait()
				untold = 0
				for _, s := range w.all() {
					if c := s.up.take(0); c != nil {
						c.does()
					}
				}
				for _, m := range clients {
					untold += len(m.untold())
				}
			}
			leave()
			made := map[string]string{}
			for _, s := range w.all() {
				if len(s.up.late) > 0 {
					rt.Errorf("%s were asked of a server that was about to end", s.up.late)
				}
				for id, n := range s.up.carried {
					if _, twice := made[id]; n > 1 || twice {
						rt.Errorf("%s was carried out again", id)
					}
					made[id] = s.dir
				}
			}
			for _, m := range clients {
				for id, project := range m.believes() {
					if in, was := made[id]; was && in != project {
						rt.Errorf("the edit %s was made in %q instead of %q:%s", id, in, project, m.story())
					}
				}
				for _, wrong := range m.wrong {
					rt.Error(wrong, m.story())
				}
			}
		})
	})
}

// An activation that its client has cancelled while the server started leaves it without
// a project, also when that server does not know the tool.
func TestACancelledActivation(t *testing.T) {
	server := mcptest.New(t)
	g := behind(t, server)
	c := join(t, g, func(o *SessionOptions) {
		o.Plan = func(context.Context, string) (share.Plan, error) { return planFor("/work"), nil }
	})
	c.greet()
	apptest.Contains(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"activate_project","arguments":{"project":"/work"}}}`), "The project at /work is active.")
	g.killed(server)
	hold := make(chan struct{})
	g.change(func() { g.hold = hold })
	acquired := func() int { g.mu.Lock(); defer g.mu.Unlock(); return g.acquired }
	before := acquired()
	activation := c.call(2, "activate_project", `{"project":"/work"}`)
	apptest.Eventually(t, "it waits for the server", func() bool { return acquired() > before })
	c.put(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if fate := c.get(activation); fate != "settled" {
		t.Errorf("the activation: %s", fate)
	}
	g.change(func() { g.hold = nil })
	close(hold)
	apptest.Contains(t, c.get(c.call(3, "echo", "{}")), noProject)
}

// A server for one project may offer the tool, or one that looks into another, all the same, as settings of Serena can have
// it. It would change the project of all who share it.
func TestAProjectThatCannotBeChanged(t *testing.T) {
	server := mcptest.New(t)
	c := join(t, behind(t, server), nil)
	c.greet()
	apptest.Contains(t, c.get(c.call(1, "activate_project", `{"project":"/b"}`)), sameProject)
	apptest.Contains(t, c.get(c.call(2, "echo", "{}")), "echo")
	apptest.Contains(t, c.get(c.call(3, "query_project", `{"project_name":"b"}`)), noQuery)
	if lines := strings.Join(server.Lines("session-1"), "\n"); strings.Contains(lines, "activate_project") || strings.Contains(lines, "query_project") {
		t.Errorf("the server got %s", lines)
	}
	if len(c.moved) > 0 {
		t.Errorf("its shim notes %q", c.moved)
	}
}
