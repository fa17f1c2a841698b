package launch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// How often a starting server is looked at: often, because every millisecond is
// one that somebody waits, but never so that looking takes more than a fifth of
// the time.
const (
	lookEvery = 5 * time.Millisecond
	lookShare = 5
)

// How often a port is asked that has not consented yet.
const (
	askFirst = 10 * time.Millisecond
	askLast  = 250 * time.Millisecond
)

// settleTime is how much longer than MCP a dashboard may take to reply that
// listens already, and the system to show whose port it is: on a busy machine, seconds.
const settleTime = 5 * time.Second

// location is where a server was found to be.
type location struct {
	server    monitor.Identity
	port      int
	dashboard int
}

// search looks for the location of a server while it starts.
type search struct {
	keeper    *keeper
	transport string
	path      string
	port      int    // the only one that counts, 0 = any
	portFile  string // where the server writes that, "" = it does not
	serena    bool   // it may have a dashboard

	look func() (sight, error)
	ask  http.RoundTripper
	beat func(ctx context.Context, port int) error // whether a dashboard is there
}

// sight is one look at a starting server.
type sight struct {
	tree      []process.Stat // the keeper first, every parent before its children
	listeners []process.Listener
}

// owner is the process that has a port: the topmost, where several share it.
func (s sight) owner(port int) (monitor.Identity, bool) {
	for _, p := range s.tree {
		if p.State != process.Unreaped && slices.ContainsFunc(s.listeners, func(l process.Listener) bool {
			return l.PID == p.PID && l.Hears(port)
		}) {
			return p.Identity, true
		}
	}
	return monitor.Identity{}, false
}

// ports are those on which 127.0.0.1 is answered, ascending.
func (s sight) ports() []int {
	var ports []int
	for _, l := range s.listeners {
		if l.Reachable() {
			ports = append(ports, int(l.Addr.Port()))
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// elsewhere are the addresses on which 127.0.0.1 is not answered, ascending.
func (s sight) elsewhere() []netip.AddrPort {
	var list []netip.AddrPort
	for _, l := range s.listeners {
		if !l.Reachable() {
			list = append(list, l.Addr)
		}
	}
	slices.SortFunc(list, netip.AddrPort.Compare)
	return slices.Compact(list)
}

// looker returns a function that looks at the tree of a keeper.
func looker(keeper monitor.Identity) func() (sight, error) {
	return func() (sight, error) {
		tree, err := process.Tree(keeper)
		if err != nil {
			return sight{}, err
		}
		pids := make([]int, 0, len(tree))
		for _, p := range tree {
			pids = append(pids, p.PID)
		}
		listeners, err := process.Listeners(pids)
		return sight{tree, listeners}, err
	}
}

// reply is what was learnt by asking a port.
type reply struct {
	port      int
	mcp       bool
	dashboard bool
	err       error // neither yet, and why
}

// find waits until the server accepts MCP. It fails when the keeper ends first
// or when ctx does, with the cause of that. Nothing of it runs on when it
// returns.
func (s *search) find(ctx context.Context) (location, error) {
	ctx, cancel := context.WithCancel(ctx)
	replies := make(chan reply)
	ports := map[int]*reply{}
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()

	timer := time.NewTimer(0)
	defer timer.Stop()
	var since time.Time // when MCP was accepted
	var found *reply
	var now sight
	for {
		select {
		case <-s.keeper.gone:
			return location{}, errors.New("it ended before it accepted MCP")
		case <-ctx.Done():
			return location{}, s.late(context.Cause(ctx), ports, now)
		case a := <-replies:
			ports[a.port] = &a
			if a.mcp && found == nil {
				found, since = &a, time.Now()
			}
		case <-timer.C:
		}
		began := time.Now()
		var err error
		now, err = s.look()
		if err != nil && !errors.Is(err, process.ErrGone) {
			return location{}, fmt.Errorf("its processes cannot be looked at: %w", err)
		}
		for _, port := range s.wanted(now) {
			if ports[port] == nil {
				ports[port] = &reply{port: port}
				asking.Go(func() { s.askPort(ctx, port, replies) })
			}
		}
		if found != nil {
			server, owned := now.owner(found.port)
			dashboard, settled := s.dashboard(now, ports, found.port)
			switch late := time.Since(since) > settleTime; {
			case owned && (settled || late):
				return location{server, found.port, dashboard}, nil
			case !owned && late:
				return location{}, errors.New("it closed its port right after it had accepted MCP")
			}
		}
		timer.Reset(max(lookEvery, lookShare*time.Since(began)))
	}
}

// wanted are the ports to be asked.
func (s *search) wanted(now sight) []int {
	ports := now.ports()
	port := s.port
	if s.portFile != "" {
		if port = readPort(s.portFile); port == 0 {
			return nil
		}
	}
	if port == 0 {
		return ports
	}
	return slices.DeleteFunc(ports, func(p int) bool { return p != port })
}

// dashboard finds the dashboard's port among what the server itself listens on,
// and reports whether there is nothing left to wait for.
func (s *search) dashboard(now sight, ports map[int]*reply, mcp int) (port int, settled bool) {
	if !s.serena {
		return 0, true
	}
	settled = true
	server, _ := now.owner(mcp)
	for _, p := range now.ports() {
		if owner, _ := now.owner(p); p == mcp || owner != server || ports[p] == nil {
			continue
		}
		if ports[p].dashboard {
			return p, true
		}
		settled = false
	}
	return 0, settled
}

// newAsking makes what ports are asked over. It leaves no connection behind.
func newAsking() http.RoundTripper {
	transport := mcp.NewTransport()
	transport.DisableKeepAlives = true
	transport.MaxResponseHeaderBytes = 64 << 10
	return transport
}

// address is where a port is asked.
func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// askPort asks a port until it is clear what it is, or ctx ends.
func (s *search) askPort(ctx context.Context, port int, replies chan<- reply) {
	for pause := askFirst; ; pause = min(2*pause, askLast) {
		a := s.askOnce(ctx, port)
		select {
		case replies <- a:
		case <-ctx.Done():
			return
		}
		if a.mcp || a.dashboard {
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// askOnce asks for MCP first: that is what somebody waits for.
func (s *search) askOnce(ctx context.Context, port int) reply {
	var err error
	to := mcp.Options{URL: "http://" + address(port) + s.path, Transport: s.ask}
	if s.transport == SSE {
		err = mcp.AcceptsSSE(ctx, to)
	} else {
		err = mcp.Accepts(ctx, to)
	}
	if err == nil {
		return reply{port: port, mcp: true}
	}
	if s.serena && ctx.Err() == nil && s.beat(ctx, port) == nil {
		return reply{port: port, dashboard: true}
	}
	return reply{port: port, err: err}
}

// late adds to the cause of giving up what the ports have said, or where the
// server was seen to listen instead.
func (s *search) late(cause error, ports map[int]*reply, last sight) error {
	if len(ports) == 0 {
		var seen []string
		for _, addr := range last.elsewhere() {
			if s.port == 0 || int(addr.Port()) == s.port {
				seen = append(seen, addr.String())
			}
		}
		if len(seen) > 0 {
			return fmt.Errorf("%w; it listened on %s, which 127.0.0.1 does not reach: make it listen on 127.0.0.1", cause, strings.Join(seen, ", "))
		}
		switch {
		case s.portFile != "":
			return fmt.Errorf("%w; it listened on no port that it has written to {port_file}", cause)
		case s.port != 0:
			return fmt.Errorf("%w; it did not listen on port %d, which it was given", cause, s.port)
		}
		return fmt.Errorf("%w; it listened on no port", cause)
	}
	var said []string
	for port := range math.MaxUint16 + 1 {
		switch k := ports[port]; {
		case k == nil:
		case k.dashboard:
			said = append(said, fmt.Sprintf("port %d is its dashboard", port))
		case k.err != nil:
			said = append(said, fmt.Sprintf("on port %d %s", port, shorten(monitor.Clean(k.err.Error()), shownLength)))
		default:
			said = append(said, fmt.Sprintf("port %d has not answered", port))
		}
	}
	return fmt.Errorf("%w; %s", cause, strings.Join(said, ", "))
}

// readPort reads the port that a server has written, 0 when there is none yet.
func readPort(path string) int {
	const longest = 64
	text, err := statefile.Read(path, longest)
	if err != nil {
		return 0
	}
	return parsePort(string(text))
}

// parsePort reads what a server has written, 0 for anything but a port. A number
// that is not written whole yet is that of a port on which the server does not
// listen.
func parsePort(text string) int {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}
