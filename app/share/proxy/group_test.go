package proxy

import (
	"context"
	"sync"
	"testing"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
)

// group is the server behind sessions.
type fakeGroup struct {
	mu         sync.Mutex
	server     *share.Endpoint // nil = parked
	gone       chan struct{}
	shut       chan struct{}
	hangs      bool
	generation uint64
	wake       func() share.Endpoint // starts it
	refuse     error
	hold       chan struct{} // where Acquire waits, if not nil
	acquired   int
	began      int
	ended      int
	before     func() // is called once, before a request has begun, if not nil
	lingering  []time.Duration
	cache      map[string][]byte
	forgotten  int
	seen       []string
	why        string
}

func (g *fakeGroup) Acquire(ctx context.Context) (share.Endpoint, error) {
	g.mu.Lock()
	hold := g.hold
	g.acquired++
	g.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return share.Endpoint{}, ctx.Err()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuse != nil {
		return share.Endpoint{}, g.refuse
	}
	if g.server == nil {
		g.generation++
		s := g.wake()
		g.gone = make(chan struct{})
		g.shut = make(chan struct{})
		s.Shut = g.shut
		s.Gone, s.Why = g.gone, func() string { return g.why }
		g.server = &s
	}
	return *g.server, nil
}

// fell is the end of the server's process.
func (g *fakeGroup) fell() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.server != nil {
		close(g.gone)
		g.server = nil
	}
}

// hang makes the server hang, or be about to end: who wants it waits.
func (g *fakeGroup) hang() {
	g.change(func() {
		close(g.shut)
		g.hangs, g.hold = true, make(chan struct{})
	})
}

// Hang is what those are told who wait for it.
func (g *fakeGroup) Hang() string {
	_, hangs := g.isHung()
	return map[bool]string{true: "it does not answer"}[hangs]
}

// answers ends that: the server answers again, or it was replaced.
func (g *fakeGroup) answers(again bool) {
	g.change(func() {
		close(g.hold)
		g.hangs, g.hold = false, nil
		g.shut = make(chan struct{})
		switch {
		case g.server == nil: // it has ended
		case again:
			g.server.Shut = g.shut
		default:
			close(g.gone)
			g.server = nil
		}
	})
}

// isHung reports whether there is a server, and whether it hangs.
func (g *fakeGroup) isHung() (runs, hangs bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.server != nil, g.hangs
}

// killed is the death of the server's process. Its end is known while its
// connections end, which may take longer than a session waits for that.
func (g *fakeGroup) killed(server *mcptest.Server) {
	dead := server.Dead()
	var ends sync.WaitGroup
	ends.Go(server.Kill)
	<-dead
	g.fell()
	ends.Wait()
}

func (g *fakeGroup) Began() (ended func()) {
	if before := g.before; before != nil {
		g.before = nil
		before()
	}
	g.change(func() { g.began++ })
	return func() { g.change(func() { g.ended++ }) }
}

func (g *fakeGroup) Project() string { return "/work" }
func (g *fakeGroup) Move(share.Plan) (before share.Plan) {
	panic("this client cannot activate a project")
}

func (g *fakeGroup) Lingering(d time.Duration) {
	g.change(func() { g.lingering = append(g.lingering, d) })
}
func (g *fakeGroup) Forget()             { g.change(func() { g.forgotten++; g.cache = nil }) }
func (g *fakeGroup) Seen(session string) { g.change(func() { g.seen = append(g.seen, session) }) }

func (g *fakeGroup) Cached(method, under string) ([]byte, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	result, ok := g.cache[method+" "+under]
	return result, ok && (g.server == nil || g.hangs)
}

func (g *fakeGroup) Store(method, under string, result []byte) {
	g.change(func() {
		if g.cache == nil {
			g.cache = map[string][]byte{}
		}
		g.cache[method+" "+under] = result
	})
}

func (g *fakeGroup) change(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
}

// open is how many brackets are open.
func (g *fakeGroup) open() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.began - g.ended
}

func (g *fakeGroup) starts() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(g.generation)
}

// behind is a group of a server of mcptest, which is started again when it was
// killed.
func behind(t *testing.T, server *mcptest.Server) *fakeGroup {
	transport := mcp.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	running := true
	return &fakeGroup{why: "it was killed", wake: func() share.Endpoint {
		if !running {
			server.Restart()
		}
		running = false
		return share.Endpoint{URL: server.URL(), Transport: transport}
	}}
}
