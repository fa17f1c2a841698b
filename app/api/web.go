package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/loopback"
	"lamplighter/monitor/process"
)

// WebOptions of a Web. The first three are needed. Those that follow make it
// another one than that of the global dashboard.
type WebOptions struct {
	Handler http.Handler
	Log     *slog.Logger
	// Warn replaces what is said about the port; no sentence means that all is
	// well.
	Warn func(sentences ...string)

	// Serves is what is served, in words, "" being the global dashboard; Root
	// is its path, which begins and ends with a slash.
	Serves, Root string
	// Instead says while the port cannot be had where the same is, and what to
	// do. With it no other port is taken; nil: the next one is that can be had.
	Instead func() string
	// Like is one whose token counts here, too, and whose address Instead gives;
	// nil: there is a token of its own. It is not served yet when this is made.
	Like *Web

	Limits Limits
}

// Limits are how long views, ports and bodies are waited for. A zero field means the default.
type Limits struct {
	Reader    time.Duration // how long a reader may take nothing
	Retry     time.Duration // from one try to take a port to the next; 5 s where there is no other, as clients expect it nowhere else
	Heartbeat time.Duration // between two comments of a stream
	Body      time.Duration // how long the body of a request may take
}

// Web serves routes to the browsers of this machine, on a port of 127.0.0.1 and
// of [::1], behind a guard. Its methods may be called at any time by anybody.
//
// Only processes of our user are let in, as the system tells by the connection.
// Where it cannot tell, as for the Windows side of WSL2, a token is needed,
// which is made anew for each Web and which OpenURL puts into the address.
type Web struct {
	options WebOptions
	token   string
	changed monitor.Bell // rings when want may have changed

	listen    func(ctx context.Context, port int) ([]net.Listener, error) // loopback.Listen
	ours      func(local, remote netip.AddrPort) (bool, error)            // process.PeerIsOurs
	forwarded bool                                                        // connections may come from outside of this system
	limits    Limits

	watchers atomic.Int64
	told     string    // what was logged about the port last; of Serve alone
	why      string    // the port cannot be had, "" while it can; of Serve alone
	lookedAt time.Time // when that was found out; likewise

	mu        sync.Mutex
	want      place
	failed    place  // of want if that could not be had when it was tried last
	url       string // "" while it does not serve
	needToken bool

	alike []*Web // those that have this one as Like
}

// place is where to serve.
type place struct {
	on   bool
	port int
}

// NewWeb makes a Web that serves nothing until Set and Serve were called.
func NewWeb(o WebOptions) *Web {
	if o.Serves == "" {
		o.Serves, o.Root = "the global dashboard", pageRoot
	}
	w := &Web{
		options: o, token: newToken(), changed: monitor.NewBell(),
		listen: loopback.Listen, ours: process.PeerIsOurs, forwarded: forwarded(), limits: o.Limits,
	}
	if o.Like != nil {
		w.token = o.Like.token
		o.Like.alike = append(o.Like.alike, w)
	}
	w.limits.Reader = cmp.Or(w.limits.Reader, 30*time.Second)
	if o.Instead != nil {
		w.limits.Retry = cmp.Or(w.limits.Retry, 5*time.Second)
	}
	w.limits.Retry = cmp.Or(w.limits.Retry, time.Minute)
	return w
}

// Set says whether and on which port to serve. It may be called at
// any time. When the port changes, the connections to the old one end.
func (w *Web) Set(on bool, port int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if want := (place{on, port}); want != w.want {
		w.want = want
		w.changed.Ring()
	}
}

// settled reports whether it serves, or will not for now.
func (w *Web) settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.want.on || w.url != "" || w.failed == w.want
}

func (w *Web) wanted() place {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.want
}

// URL is the address of what is served, such as the page, "" while it is not.
func (w *Web) URL() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.url
}

// OpenURL is what a browser should open to see a part of the page, such as
// "/24284/logs", or all of it; "" while it is not served. It may hold the
// token, so it is for no log.
func (w *Web) OpenURL(fragment string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.url == "" {
		return ""
	}
	escaped := (&url.URL{Fragment: fragment}).EscapedFragment()
	switch {
	case w.needToken && escaped == "":
		escaped = "token=" + w.token
	case w.needToken:
		escaped += "&token=" + w.token
	case escaped == "":
		return w.url
	}
	return w.url + "#" + escaped
}

// Watched reports whether somebody has the stream open, as a page does that is
// being looked at.
func (w *Web) Watched() bool { return w.watchers.Load() > 0 }

// watch counts one who watches until the function that it returns is called.
func (w *Web) watch() func() {
	w.watchers.Add(1)
	return func() { w.watchers.Add(-1) }
}

// Serve serves where Set says until ctx ends, and returns its error. It can be
// called again after it returned, not twice at once.
func (w *Web) Serve(ctx context.Context) error {
	w.findOutWhetherPeersShow(ctx)
	var before place
	for ctx.Err() == nil {
		select {
		case <-w.changed: // seen from here on
		default:
		}
		want := w.wanted()
		if want != before {
			before, w.told, w.why = want, "", "" // which were about another port
		}
		if !want.on {
			w.came(place{}, "")
			w.options.Warn()
			w.pause(ctx, 0)
			continue
		}
		listeners, err := w.open(ctx, want.port)
		if err != nil {
			w.came(want, "")
			w.pause(ctx, w.limits.Retry)
			continue
		}
		for listeners != nil && err == nil {
			listeners, err = w.serve(ctx, listeners, want)
		}
		if err != nil {
			w.warn("%s is not served: its port failed (%v); it is tried again within %s", w.options.Serves, cause(err), monitor.Span(w.limits.Retry))
			w.pause(ctx, w.limits.Retry)
		}
	}
	return ctx.Err()
}

// pause waits for a change, for ctx, and if it is not zero for the time.
func (w *Web) pause(ctx context.Context, d time.Duration) {
	var enough <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case <-ctx.Done():
	case <-w.changed:
	case <-enough:
	}
}

// serve serves until ctx ends, something else is wanted or the listener fails,
// which is the error. It also ends with a listener to go on with, when the
// wanted port has become free.
func (w *Web) serve(ctx context.Context, listeners []net.Listener, want place) (next []net.Listener, err error) {
	ctx, cancel := context.WithCancel(ctx)
	guarded := loopback.Guard(listeners, w.welcome, newRefusals(w.options.Serves, w.options.Log).note)
	defer guarded.Wait()
	port := guarded.Addr().(*net.TCPAddr).Port
	server := &http.Server{
		Handler:           w.guarded(port),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withWebConn,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		ConnState:         newDoorkeeper(systemLimits().connections, w.options.Serves, w.options.Log).note,
		MaxHeaderBytes:    64 << 10, // browsers send the cookies of every other port of the machine too
		ErrorLog:          slog.NewLogLogger(w.options.Log.Handler(), slog.LevelDebug),

		DisableGeneralOptionsHandler: true, // it would answer before the guard
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(guarded) }()
	w.came(place{}, fmt.Sprintf("http://127.0.0.1:%d%s", port, w.options.Root))
	defer func() {
		w.came(place{}, "")
		cancel()
		shutDown(server)
		<-ended
	}()
	back, stop := w.wayBack(port, want)
	defer stop()
	for w.wanted() == want {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-w.changed:
		case <-back:
			if next := w.goBack(ctx, want.port); next != nil {
				return next, nil
			}
		case err := <-ended:
			ended <- nil // for the end of this
			return nil, err
		}
	}
	return nil, nil
}

// came notes what came of a try to serve somewhere, and tells those alike.
func (w *Web) came(failed place, url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed, w.url = failed, url
	for _, other := range w.alike {
		other.changed.Ring()
	}
}

// guarded puts the guards before the routes.
func (w *Web) guarded(port int) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		secure(rw.Header())
		payload.Expect(rw, req, w.limits.Body)
		refused := guard(req, port)
		if refused == nil && asksForWorker(req) {
			w.removeWorker(rw)
			return
		}
		if refused == nil {
			refused = w.authenticate(req)
		}
		if refused == nil {
			w.options.Handler.ServeHTTP(rw, req)
			return
		}
		if req.ContentLength != 0 {
			rw.Header().Set("Connection", "close") // nobody reads its body
		}
		answer(rw, w.options.Log, refused.status, Failure{Error: refused.text})
	})
}
