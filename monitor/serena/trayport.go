package serena

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/loopback"
)

// TrayPort is where Serena expects a tray manager, on 127.0.0.1.
//
// Source: SerenaPorts.TRAY_MANAGER_PORT and SerenaDashboardTrayManager in
// serena/dashboard.py, the same from 1.5.3 to 2.1.0.
const TrayPort = 24224

// Registration is what an instance said of itself, checked.
type Registration struct {
	Identity   monitor.Identity // of the server itself, which listens on Port
	Port       int              // of its dashboard
	Project    string           // active, as the instance says: foreign text, "" when none
	StartedAt  time.Time        // as it says, to the second; zero when that could not be read
	OpenViewer bool             // it wants its dashboard shown now
}

// TrayOptions of a TrayEndpoint. The functions are called one request after the
// other or several at once, and must return at once. A nil one is left out.
type TrayOptions struct {
	// Register is told of an instance that is new, once.
	Register func(Registration)
	// UpdateProject is told of the registration with another project.
	UpdateProject func(Registration)
	// Unregister is told that an instance says goodbye. It is a claim, and the
	// process may well live on: only its end takes an instance away.
	Unregister func(Registration)
	// OpenViewer shows a dashboard. See TrayEndpoint for when it is called.
	OpenViewer func(Registration)
	// Owner checks the claim that a process listens on a port of the loopback
	// interface and returns who it is. The error is ErrNotListening where that
	// may still come, and a sentence in any case. Nil means PortOwner.
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
	Settle time.Duration // an instance may register before it listens
	Header time.Duration // from the opening of a connection to the end of a request's header
	Write  time.Duration // from there to the end of the answer
}

// TrayEndpoint is the tray manager that Serena instances with
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
// A page is opened once: for the first instance that asks, and then for no
// other one as long as one lives that has asked, nor within ten minutes. An
// instance never gets a second one. Serena asks by default for every instance,
// and a page for each is what people complain about.
type TrayEndpoint struct {
	options TrayOptions
	log     *slog.Logger
	known   *registered

	listen func(context.Context) (net.Listener, error)
	limits TrayLimits
	alive  func(monitor.Identity) bool
	places chan struct{} // one for each registration that is looked at or waits for that
	checks chan struct{} // one for each look at the process table
	turned refusals
}

// What a flood of requests can make us do. An instance sends three in its life.
const (
	mostConnections = 32
	mostPeerChecks  = 4
	mostWaiting     = 16 // registrations
	mostChecks      = 2
)

// NewTrayEndpoint makes an endpoint that holds nothing until Serve runs.
func NewTrayEndpoint(o TrayOptions) *TrayEndpoint {
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Owner == nil {
		o.Owner = PortOwner
	}
	for _, f := range []*func(Registration){&o.Register, &o.UpdateProject, &o.Unregister, &o.OpenViewer} {
		if *f == nil {
			*f = func(Registration) {}
		}
	}
	return &TrayEndpoint{
		options: o,
		log:     o.Log,
		known:   newRegistered(),
		listen:  listenTray,
		limits: TrayLimits{
			Retry: cmp.Or(o.Limits.Retry, time.Minute), Settle: cmp.Or(o.Limits.Settle, time.Second),
			Header: cmp.Or(o.Limits.Header, time.Second), Write: cmp.Or(o.Limits.Write, 8*time.Second),
		},
		alive:  isAlive,
		places: make(chan struct{}, mostWaiting),
		checks: make(chan struct{}, mostChecks),
		turned: refusals{log: o.Log},
	}
}

// Serve takes the port when it is free and answers on it until ctx ends. Then it
// finishes the requests that are at work, closes the port and returns ctx's
// error. It can be called again after it returned, not twice at once; what was
// registered is remembered.
func (e *TrayEndpoint) Serve(ctx context.Context) error {
	told := false // that the port is not ours
	for {
		l, err := e.listen(ctx)
		switch {
		case err == nil:
			e.log.Info("Serena servers can register here", "address", l.Addr().String())
			told = false
			if err := e.answer(ctx, l); ctx.Err() == nil {
				e.log.Warn("Serena servers cannot register here for a minute: the port failed", "error", err)
			}
		case !told && ctx.Err() == nil:
			e.log.Info("Serena servers cannot register here and are found by looking: the port is left to whoever has it, such as Serena's own tray manager, and taken when it becomes free",
				"port", TrayPort, "reason", err)
			told = true
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		wait := time.NewTimer(e.limits.Retry)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// listenTray takes the port, if nobody has it.
func listenTray(ctx context.Context) (net.Listener, error) { return loopback.Listen(ctx, TrayPort) }

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

// finish is what requests get to end when the port is given back. They take
// milliseconds; one that waits for something is answered at once.
const finish = 300 * time.Millisecond

// answer serves until ctx ends or the listener fails.
func (e *TrayEndpoint) answer(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           e.handler(l.Addr().(*net.TCPAddr).Port),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: e.limits.Header,
		ReadTimeout:       e.limits.Header + 2*time.Second,
		WriteTimeout:      e.limits.Write,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          slog.NewLogLogger(e.log.Handler(), slog.LevelDebug),
	}
	server.SetKeepAlivesEnabled(false) // Serena makes one request per connection
	own := loopback.Guard(l, loopback.Options{
		Welcome:     e.welcome,
		Refused:     func(err error) { e.turned.note("a connection", refused{http.StatusForbidden, err.Error()}) },
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
