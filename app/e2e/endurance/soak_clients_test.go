//go:build real && soak && linux

package endurance

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/e2e"
	"lamplighter/monitor"
)

// sharers is how many clients come and go at once, of sharedProjects servers.
const (
	sharersAtOnce  = 4
	sharedProjects = 2
)

// A server that ends three times within a minute is not started again for a while.
// That is not what is soaked.
const killsApart = 40 * time.Second

// aftermath is how long after a server was killed its clients may still hear of it.
const aftermath = 15 * time.Second

// killedSince tells that a shared server was killed since then, or just before.
func (s *soak) killedSince(then time.Time) bool {
	return s.killed.Load() > then.Add(-aftermath).UnixNano()
}

// anyNumber is how often things may be told that are not counted.
const anyNumber = 1 << 20

// makeProjects makes what the clients work on.
func (s *soak) makeProjects(t *testing.T) {
	t.Helper()
	for i := range sharedProjects {
		s.projects = append(s.projects, e2e.NamedProject(t, []string{"east", "west"}[i]))
	}
}

// playClients lets one client after the other connect, call and leave.
func (s *soak) playClients(player uint64) func(*testing.T) {
	return func(t *testing.T) {
		random := s.rand(player)
		for n := 1; s.pause(time.Duration(random.Float64() * float64(5*time.Second))); n++ {
			if !t.Run(fmt.Sprint("client ", n), func(t *testing.T) { s.client(t, random.IntN, random.Float64) }) {
				return
			}
		}
	}
}

// client is one client: it makes some calls, with pauses of which some are long
// enough for the server to be parked.
func (s *soak) client(t *testing.T, intn func(int) int, float func() float64) {
	c := s.Wrap(t, s.projects[intn(sharedProjects)], e2e.SerenaCommand...)
	s.ledger.count("clients")
	if !s.greets(t, c) {
		return
	}
	for id := 1; id <= 1+intn(8); id++ {
		pause := 2 * float()
		if intn(5) == 0 {
			pause = 6 + 4*float()
		}
		if !s.pause(time.Duration(pause * float64(time.Second))) {
			break
		}
		s.asks(t, c, id)
	}
	switch intn(3) {
	case 0:
		c.Terminated(t)
	case 1:
		c.In.Close()
		if status := c.Status(t); status != 0 {
			t.Errorf("exit status %d: %s", status, c.Err.String())
		}
	default:
		c.Signal(t, syscall.SIGKILL)
		<-c.Ended
	}
}

// greets makes the handshake; false: the server was killed meanwhile.
func (s *soak) greets(t *testing.T, c *e2e.Shim) bool {
	t.Helper()
	before := time.Now()
	c.Send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	if r := c.Await(t, "0"); r.Error != nil {
		if !s.killedSince(before) {
			t.Errorf("the handshake failed, and nobody had killed its server: %s", e2e.ExcerptOf(r.Line))
		}
		return false
	}
	c.Send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return true
}

// asks makes a call. It is answered, or the server was killed meanwhile and the
// answer says what has become of the call.
func (s *soak) asks(t *testing.T, c *e2e.Shim, id int) {
	t.Helper()
	before := time.Now()
	c.Call(t, id, "get_symbols_overview", map[string]any{"relative_path": "main.go"})
	r := c.Await(t, fmt.Sprint(id))
	s.ledger.count("calls")
	switch {
	case r.Error == nil:
		if text := r.Text(t); !strings.Contains(text, "greet") {
			t.Errorf("the call was answered %s", e2e.ExcerptOf(text))
		}
	case !s.killedSince(before):
		t.Errorf("the call failed, and nobody had killed its server: %s", r.Line)
	default:
		s.ledger.count("calls that their server did not survive")
	}
}

// playChaos suspends and kills servers that clients share.
func (s *soak) playChaos(t *testing.T) {
	random := s.rand(9)
	for s.pause(time.Duration((5 + 15*random.Float64()) * float64(time.Second))) {
		all := s.Serenas()
		if len(all) == 0 {
			continue
		}
		id := soakIdentity(all[random.IntN(len(all))])
		if random.IntN(3) > 0 || s.killedSince(time.Now().Add(aftermath-killsApart)) {
			s.ledger.count("shared servers suspended")
			at := time.Now()
			kill(id, syscall.SIGSTOP)
			s.pause(time.Duration(3 * random.Float64() * float64(time.Second)))
			kill(id, syscall.SIGCONT)
			// uvicorn closes at once what was idle for 5 s, also when something has come
			// on it while the server was suspended, and we use what was idle for 2 s.
			if time.Since(at) > 3*time.Second {
				s.killed.Store(time.Now().UnixNano())
			}
			continue
		}
		s.ledger.count("shared servers killed")
		s.killed.Store(time.Now().UnixNano())
		kill(id, syscall.SIGKILL)
	}
}

// adopt takes the servers into the ledger that lamplighter has started for clients.
// It ends them when nobody needs them; that it does so under nobody is what the
// clients check, whose calls are all answered.
func (s *soak) adopt() {
	for _, pid := range s.Serenas() {
		id := soakIdentity(pid)
		if id == (monitor.Identity{}) || s.ledger.knows(id) {
			continue
		}
		p := &lamp{id: id, what: "real, shared by clients", mayEnd: "nobody needs it", names: 1}
		s.ledger.add(p)
		s.ledger.change(p, func() { p.reds[monitor.CauseSuspended], p.reds[monitor.CauseUnreachable] = anyNumber, anyNumber })
	}
}
