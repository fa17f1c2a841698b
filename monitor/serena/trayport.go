package serena

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/loopback"
	"lamplighter/monitor/process"
)

// TrayPort is where Serena expects a tray manager, on 127.0.0.1.
//
// Source: SerenaPorts.TRAY_MANAGER_PORT and SerenaDashboardTrayManager in
// serena/dashboard.py, the same from 1.5.3 to 2.1.0.
const TrayPort = 24224

// TrayOptions of a TrayEndpoint. The functions are called several at once, and
// must return at once. A nil one is left out.
type TrayOptions struct {
	// Heard is told of a server that has registered, has another project, or says
	// goodbye. The last is a claim: only its end takes a server away.
	Heard func(id monitor.Identity, port int)
	// OpenViewer is to show the dashboard at a port. See TrayEndpoint for when.
	OpenViewer func(port int)
	// Owner checks the claim that a process listens on a port of the loopback
	// interface and returns who it is. The error is ErrNotListening where that
	// may still come. Nil means PortOwner.
	Owner func(pid, port int) (monitor.Identity, error)
	// Peer refuses a connection that was just opened, by its local and its
	// remote end; nil lets all in. It is closed before anything is read.
	Peer func(local, remote netip.AddrPort) error
	Log  *slog.Logger // nil: silent

	Limits TrayLimits
}

// TrayLimits are how long a TrayEndpoint waits. A zero field means the default.
type TrayLimits struct {
	Retry  time.Duration // from one try to take the port to the next
	Settle time.Duration // a server may register before it listens
	Header time.Duration // from the opening of a connection to the end of a request's header
	Write  time.Duration // from there to the end of the answer
}

// TrayEndpoint is the tray manager that Serena servers with
// web_dashboard_interface: tray_manager register at. They do so once, right
// after they have started, when something answers GET /health on TrayPort. When
// nothing does, they start Serena's own tray manager. One that is refused, or
// whose manager has gone since, writes a warning to its log and goes on; it
// never registers a second time. So registrations are news and not the truth:
// what is not told here is found in other ways.
//
// The port is taken only when nobody has it. Held by somebody else, such as
// Serena's own tray manager, it is left alone and tried again every minute.
//
// A page is opened once: for the first server that asks, and then for no
// other one as long as one lives that has asked, nor within ten minutes.
// Serena asks by default for every server, and a page for each is what people
// complain about.
type TrayEndpoint struct {
	options TrayOptions
	listen  func(context.Context) (net.Listener, error)
	alive   func(monitor.Identity) bool

	mu     sync.Mutex
	known  map[int]trayServer // by port
	opened time.Time          // the last page; zero before the first
}

// trayServer is a server that has registered.
type trayServer struct {
	id    monitor.Identity
	asked bool // for its page, whether it got one or not
}

// trayMessage is the body of a request:
//
//	POST /register {"port": 24282, "pid": 7295, "dashboard_url": "http://127.0.0.1:24282/dashboard/index.html",
//	                "project": null, "started_at": "2026-11-20T22:51:52", "open_viewer": false}
//	POST /update_project {"port": 24282, "project": "name"}
//	POST /unregister {"port": 24282}
//
// The project and the rest are asked of the server itself.
type trayMessage struct {
	Port       int  `json:"port"`
	PID        int  `json:"pid"`
	OpenViewer bool `json:"open_viewer"`
}

const (
	// openAgain is the least time from one page that is opened to the next, so that
	// a server which crashes and is started over and over does not open one each time.
	openAgain = 10 * time.Minute
	// maxTrayBody is far more than a server sends, some 200 bytes.
	maxTrayBody = 64 << 10

	mostConnections = 32
	mostPeerChecks  = 4
)

// NewTrayEndpoint makes an endpoint that holds nothing until Serve runs.
func NewTrayEndpoint(o TrayOptions) *TrayEndpoint {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Owner == nil {
		o.Owner = PortOwner
	}
	if o.Heard == nil {
		o.Heard = func(monitor.Identity, int) {}
	}
	if o.OpenViewer == nil {
		o.OpenViewer = func(int) {}
	}
	o.Limits = TrayLimits{
		Retry: cmp.Or(o.Limits.Retry, time.Minute), Settle: cmp.Or(o.Limits.Settle, time.Second),
		Header: cmp.Or(o.Limits.Header, time.Second), Write: cmp.Or(o.Limits.Write, 8*time.Second),
	}
	return &TrayEndpoint{
		options: o,
		listen:  func(ctx context.Context) (net.Listener, error) { return loopback.Listen(ctx, TrayPort) },
		alive:   isAlive,
		known:   map[int]trayServer{},
	}
}

// Serve takes the port when it is free and answers on it until ctx ends. Then it
// finishes the requests that are at work, closes the port and returns ctx's
// error. It can be called again after it returned, not twice at once; who has
// registered is remembered.
func (e *TrayEndpoint) Serve(ctx context.Context) error {
	log := e.options.Log
	told := false // that the port is not ours
	for {
		l, err := e.listen(ctx)
		switch {
		case err == nil:
			log.Info("Serena servers can register here", "address", l.Addr().String())
			told = false
			if err := e.answer(ctx, l); ctx.Err() == nil {
				log.Warn("Serena servers cannot register here for a minute: the port failed", "error", err)
			}
		case !told && ctx.Err() == nil:
			log.Info("Serena servers cannot register here and are found by looking: the port is left to whoever has it, such as Serena's own tray manager, and taken when it becomes free",
				"port", TrayPort, "reason", err)
			told = true
		}
		select {
		case <-time.After(e.options.Limits.Retry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finish is what requests get to end when the port is given back. They take
// milliseconds; one that waits for something is answered at once.
const finish = 300 * time.Millisecond

// answer serves until ctx ends or the listener fails.
func (e *TrayEndpoint) answer(ctx context.Context, l net.Listener) error {
	limits := e.options.Limits
	server := &http.Server{
		Handler:           e.handler(l.Addr().(*net.TCPAddr).Port),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: limits.Header,
		ReadTimeout:       limits.Header + 2*time.Second,
		WriteTimeout:      limits.Write,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          slog.NewLogLogger(e.options.Log.Handler(), slog.LevelDebug),
	}
	server.SetKeepAlivesEnabled(false) // Serena makes one request per connection
	own := loopback.Guard(l, loopback.Options{
		Welcome:     e.welcome,
		Refused:     func(err error) { e.refused("a connection", err) },
		Connections: mostConnections,
		Checks:      mostPeerChecks,
	})
	defer own.Wait()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(own) }()
	var err error
	select {
	case err = <-ended:
		ended <- nil
	case <-ctx.Done():
		err = ctx.Err()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close() // the listener is closed already
	}
	<-ended
	return err
}

// welcome asks who opened a connection.
func (e *TrayEndpoint) welcome(conn net.Conn) (net.Conn, error) {
	if e.options.Peer == nil {
		return conn, nil
	}
	local, remote, err := loopback.Ends(conn)
	if err != nil {
		return nil, err
	}
	return conn, e.options.Peer(local, remote)
}

// handler makes the routes, for the port that we have. Each is as Serena's own
// tray manager has it, with its answers. A failure is {"error": "…"}, which Serena
// writes to its log.
func (e *TrayEndpoint) handler(port int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { reply(w, http.StatusOK, "status", "alive") })
	for path, route := range map[string]struct {
		status string
		hear   func(context.Context, trayMessage) error
	}{
		"/register":       {"registered", e.register},
		"/update_project": {"updated", e.hear},
		"/unregister":     {"unregistered", e.hear},
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			m, err := readTray(r, port)
			if err == nil {
				err = route.hear(r.Context(), m)
			}
			if err != nil {
				e.refused(path, err)
				reply(w, http.StatusBadRequest, "error", err.Error())
				return
			}
			reply(w, http.StatusOK, "status", route.status)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := guard(r, port); err != nil {
			e.refused(r.URL.Path, err)
			reply(w, http.StatusForbidden, "error", err.Error())
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// guard keeps web pages out, which a browser may send here: they cannot hide
// where they come from. A Host of another name is a page whose own address was
// pointed at us. Other users were kept out when they connected.
func guard(r *http.Request, port int) error {
	host, hostPort, err := net.SplitHostPort(r.Host)
	if err != nil || hostPort != strconv.Itoa(port) || host != "127.0.0.1" && host != "localhost" && host != "::1" {
		return fmt.Errorf("the host must be 127.0.0.1:%d", port)
	}
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if _, page := r.Header[name]; page {
			return errors.New("requests of web pages are refused")
		}
	}
	return nil
}

// readTray reads what a server says at ourPort.
func readTray(r *http.Request, ourPort int) (m trayMessage, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return m, errors.New("Content-Type must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxTrayBody))
	if err != nil {
		return m, fmt.Errorf("the body did not arrive whole: %w", err)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("the body must be one JSON object: %w", err)
	}
	switch {
	case m.Port < 1 || m.Port > 65535:
		return m, errors.New("port must be a whole number from 1 to 65535")
	case m.Port == ourPort:
		return m, errors.New("this is lamplighter's own port")
	}
	return m, nil
}

func (e *TrayEndpoint) register(ctx context.Context, m trayMessage) error {
	id, err := e.owner(ctx, m)
	if err != nil {
		return err
	}
	opens := e.remember(id, m, time.Now())
	e.options.Heard(id, m.Port)
	if opens {
		e.options.OpenViewer(m.Port)
	}
	return nil
}

// owner checks who registers. Serena does so from one thread while it opens the
// port of its dashboard in another, so that the port may come a moment later.
func (e *TrayEndpoint) owner(ctx context.Context, m trayMessage) (monitor.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Limits.Settle)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		id, err := e.options.Owner(m.PID, m.Port)
		if !errors.Is(err, ErrNotListening) {
			return id, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return id, err
		}
	}
}

// remember takes note of who has registered, and reports whether its page is to
// be opened now.
func (e *TrayEndpoint) remember(id monitor.Identity, m trayMessage, now time.Time) (opens bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.known, func(_ int, s trayServer) bool { return !e.alive(s.id) })
	asked := e.known[m.Port].id == id && e.known[m.Port].asked
	opens = m.OpenViewer && (e.opened.IsZero() || now.Sub(e.opened) >= openAgain)
	for _, s := range e.known {
		opens = opens && !s.asked
	}
	e.known[m.Port] = trayServer{id, asked || m.OpenViewer}
	if opens {
		e.opened = now
	}
	return opens
}

// hear takes in that a server has something new to say. That nobody is known on
// that port is no error: it may have registered with another manager, before us.
func (e *TrayEndpoint) hear(_ context.Context, m trayMessage) error {
	e.mu.Lock()
	s, known := e.known[m.Port]
	e.mu.Unlock()
	if known {
		e.options.Heard(s.id, m.Port)
	}
	return nil
}

func (e *TrayEndpoint) refused(what string, err error) {
	e.options.Log.Debug("refused a request at the port for Serena servers", "request", monitor.Clean(what), "reason", monitor.Clean(err.Error()))
}

// reply answers. An error of the connection is the other side's.
func reply(w http.ResponseWriter, status int, name, text string) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{name: text})
}

// ErrNotListening says that a process does not listen on a port, or not yet.
var ErrNotListening = process.ErrNotListening

// PortOwner checks that a process is alive, belongs to our user, is not this
// one and listens on a TCP port of the loopback interface, and returns who it
// is. The error is ErrNotListening when only the last does not hold.
func PortOwner(pid, port int) (monitor.Identity, error) {
	if pid == os.Getpid() {
		return monitor.Identity{}, errors.New("that process is lamplighter itself")
	}
	stat, err := process.ReadStat(pid)
	switch {
	case errors.Is(err, process.ErrGone) || err == nil && stat.State == process.Unreaped:
		return monitor.Identity{}, fmt.Errorf("there is no process %d", pid)
	case err != nil:
		return monitor.Identity{}, err
	}
	if mine, err := process.SameUser(pid); err != nil {
		return monitor.Identity{}, err
	} else if !mine {
		return monitor.Identity{}, fmt.Errorf("process %d is another user's", pid)
	}
	if err := process.ListensOn(process.Local(), port, pid); err != nil {
		return monitor.Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if !isAlive(stat.Identity) {
		return monitor.Identity{}, fmt.Errorf("process %d has just ended", pid)
	}
	return stat.Identity, nil
}

// isAlive reports whether a process still runs.
func isAlive(id monitor.Identity) bool {
	alive, err := process.Alive(process.Local(), id)
	return err == nil && alive
}
