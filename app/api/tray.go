package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// trayManager is the tray manager that Serena servers with
// web_dashboard_interface: tray_manager register at. They do so once, right
// after they have started, when something answers GET /health on serena.TrayPort.
// When nothing does, they start Serena's own tray manager. One that is refused, or
// whose manager has gone since, writes a warning to its log and goes on; it
// never registers a second time. So registrations are news and not the truth:
// what is not told here is found in other ways.
//
// A page is opened once: for the first server that asks, and then for no
// other one as long as one lives that has asked, nor within ten minutes.
// Serena asks by default for every server, and a page for each is what people
// complain about.
type trayManager struct {
	source     monitor.Source
	heard      func(pid, port int)
	openViewer func(port int)
	owner      func(pid, port int) (monitor.Identity, error) // serena.PortOwner
	alive      func(monitor.Identity) bool
	settle     time.Duration // a server may register before it listens

	mu     sync.Mutex
	asked  []monitor.Identity // for their page, whether they got one or not
	opened time.Time          // the last page
}

// openAgain is the least time from one page that is opened to the next, so that
// a server which crashes and is started over and over does not open one each time.
const openAgain = 10 * time.Minute

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

// TrayHandler makes the routes at which Serena servers register, for a listener
// that serves nothing else. heard is told of a server that has registered, has
// another project, or says goodbye. The last is a claim: only its end takes a server
// away. openViewer is to show the dashboard at a port. Both must return at once.
func TrayHandler(p Parts, heard func(pid, port int), openViewer func(port int)) http.Handler {
	return newTrayManager(p, heard, openViewer).handler(newRoutes(p, 0))
}

func newTrayManager(p Parts, heard func(pid, port int), openViewer func(port int)) *trayManager {
	alive := func(id monitor.Identity) bool { return process.Lives(process.Local(), id) }
	return &trayManager{source: p.Source, heard: heard, openViewer: openViewer, owner: serena.PortOwner, alive: alive, settle: time.Second}
}

func (t *trayManager) handler(r routes) http.Handler {
	return r.router([]route{
		{http.MethodGet, "/health", r.health},
		{http.MethodPost, "/register", r.trayRoute(t.register)},
		{http.MethodPost, "/update_project", r.trayRoute(t.changed)},
		{http.MethodPost, "/unregister", r.trayRoute(t.changed)},
	})
}

// trayRoute reads what a server says. Serena writes an error to its log, and does
// not read what is answered else.
func (r routes) trayRoute(hear func(context.Context, trayMessage) error) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		body, status, err := payload.Read(w, req)
		if err != nil {
			r.fail(w, status, err.Error())
			return
		}
		var m trayMessage
		err = payload.DecodeKnown(body, &m, "port", "pid", "open_viewer")
		if err == nil && (m.Port < 1 || m.Port > math.MaxUint16) {
			err = errors.New("port must be a whole number from 1 to 65535")
		}
		if err == nil {
			err = hear(req.Context(), m)
		}
		if err != nil {
			r.fail(w, http.StatusBadRequest, err.Error())
			return
		}
		r.answer(w, http.StatusOK, map[string]string{"status": "heard"})
	}
}

func (t *trayManager) register(ctx context.Context, m trayMessage) error {
	id, err := t.awaitOwner(ctx, m)
	if err != nil {
		return err
	}
	t.heard(m.PID, m.Port)
	if m.OpenViewer && t.mayOpen(id, time.Now()) {
		t.openViewer(m.Port)
	}
	return nil
}

// awaitOwner checks who registers. Serena does so from one thread while it opens the
// port of its dashboard in another, so that the port may come a moment later.
func (t *trayManager) awaitOwner(ctx context.Context, m trayMessage) (monitor.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, t.settle)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		id, err := t.owner(m.PID, m.Port)
		if !errors.Is(err, process.ErrNotListening) {
			return id, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return id, err
		}
	}
}

// mayOpen takes note of a server that asks for its page, and reports whether that is
// to be opened now.
func (t *trayManager) mayOpen(id monitor.Identity, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = slices.DeleteFunc(t.asked, func(id monitor.Identity) bool { return !t.alive(id) })
	opens := len(t.asked) == 0 && now.Sub(t.opened) >= openAgain
	if !slices.Contains(t.asked, id) {
		t.asked = append(t.asked, id)
	}
	if opens {
		t.opened = now
	}
	return opens
}

// changed takes in that a server has something new to say. That nobody is known on
// that port is no error: it may just have been found.
func (t *trayManager) changed(_ context.Context, m trayMessage) error {
	for _, in := range t.source.Snapshot().Instances {
		if in.Port == m.Port {
			t.heard(in.Identity.PID, m.Port)
		}
	}
	return nil
}
