package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Handler makes the routes. It is the same for every listener; a guard stands
// before it.
func Handler(p Parts) http.Handler { return newRoutes(p, systemLimits().streams).handler() }

// pageRoot is where the page is, and all that belongs to it.
const pageRoot = "/global-dashboard/"

// showPath is nothing for those who come by TCP.
const showPath = "/show"

// routes answers requests. All routes of one Handler share the places for
// streams.
type routes struct {
	parts     Parts
	startedAt time.Time
	streams   chan struct{} // holds one for each that is open
	sheet     *sheet
	makings   *makings
	heartbeat time.Duration // see Limits
}

// newRoutes takes the number of streams that may be open at once.
func newRoutes(p Parts, streams int) routes {
	if p.Page == nil {
		p.Page = dashboard.Page()
	}
	if p.Proxy == nil {
		p.Proxy = dashboard.NewProxy(dashboard.ProxyOptions{Log: p.Log})
	}
	if p.Recorder == nil {
		p.Recorder = dashboard.NewRecorder(dashboard.RecorderOptions{Source: p.Source}) // which knows nothing
	}
	return routes{
		parts: p, startedAt: time.Now(), streams: make(chan struct{}, streams), sheet: &sheet{rows: p.Rows}, makings: newMakings(), heartbeat: cmp.Or(p.Limits.Heartbeat, 15*time.Second),
	}
}

// route is one entry of the table. Whoever may GET may HEAD too.
type route struct {
	method, path string
	serve        http.HandlerFunc
}

func (r routes) table() []route {
	const one = pageRoot + "instance/{id}/"
	table := []route{
		{http.MethodGet, "/health", r.health},
		{http.MethodGet, "/metrics", r.metrics},
		{http.MethodGet, "/{$}", r.toThePage},
		{http.MethodGet, "/global-dashboard", r.toThePage},
		{http.MethodGet, pageRoot + "{$}", r.parts.Page.ServeHTTP},
		{http.MethodGet, pageRoot + "index.html", r.parts.Page.ServeHTTP},
		{http.MethodGet, pageRoot + "assets/{name}", r.parts.Page.ServeHTTP},
		{http.MethodGet, pageRoot + "instances", r.instances},
		{http.MethodGet, pageRoot + "status", r.status},
		{http.MethodGet, pageRoot + "stream", r.stream},
		{http.MethodGet, pageRoot + "events", r.events},
		{http.MethodGet, pageRoot + "history", r.total},
		{http.MethodGet, policyPath, r.policy},
		{http.MethodPut, policyPath, r.setPolicy},
		{http.MethodGet, decisionsPath, r.decisions},
		{http.MethodPost, one + "kill", r.kill},
		{http.MethodPost, one + "restart", r.restart},
		{http.MethodPost, one + "restart-language-server", r.restartLanguageServer},
		{http.MethodPut, one + "pin", r.pin},
		{http.MethodPut, one + "keep", r.keep},
		{http.MethodPut, one + "rule", r.rule},
		{http.MethodGet, one + "history", r.history},
		// It opens a window, which no page and no other program that only
		// reaches the port is to do.
		{http.MethodPost, showPath, onSocket(r, r.postShow)},
		{http.MethodPost, quitPath, onSocket(r, r.quit)},
	}
	for _, forwarded := range dashboard.Routes() {
		table = append(table, route{forwarded.Method, one + forwarded.Name, r.forward(forwarded)})
	}
	table = append(table, r.setupTable()...)
	table = append(table, r.loginTable()...)
	table = append(table, r.mcpTable()...)
	table = append(table, r.workspaceTable()...)
	return append(table, r.sessionTable()...)
}

func (r routes) handler() http.Handler { return r.router(r.table()) }

// router serves a table. Only plain paths reach the mux, which would redirect
// others to where they might lead. Of two paths of the table that a request may
// mean it means the more exact one, whether that has its method or not.
func (r routes) router(table []route) http.Handler {
	mux, paths := http.NewServeMux(), http.NewServeMux()
	allowed := map[string][]string{}
	for _, t := range table {
		mux.HandleFunc(t.method+" "+t.path, t.serve)
		allowed[t.path] = append(allowed[t.path], t.method)
	}
	for path, methods := range allowed {
		if slices.Contains(methods, http.MethodGet) {
			methods = append(methods, http.MethodHead)
		}
		allow := strings.Join(methods, ", ")
		other := func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Allow", allow)
			r.fail(w, http.StatusMethodNotAllowed, req.Method+" is not possible here; use "+allow)
		}
		if path == showPath || path == quitPath {
			other = onSocket(r, other)
		}
		paths.HandleFunc(path, other)
	}
	paths.HandleFunc("/", r.nothing)
	return r.recovered(func(w http.ResponseWriter, req *http.Request) {
		switch plain, err := plainPath(req); {
		case err != nil:
			r.fail(w, http.StatusBadRequest, err.Error())
		case !plain:
			r.nothing(w, req)
		default:
			_, path := paths.Handler(req)
			if _, found := mux.Handler(req); strings.HasSuffix(found, " "+path) {
				mux.ServeHTTP(w, req)
				return
			}
			paths.ServeHTTP(w, req)
		}
	})
}

func (r routes) nothing(w http.ResponseWriter, req *http.Request) {
	r.fail(w, http.StatusNotFound, "there is nothing at "+req.URL.Path)
}

// onSocket keeps a route from those who come by TCP.
func onSocket(r routes, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if _, web := webConnOf(req.Context()); web {
			r.nothing(w, req)
			return
		}
		serve(w, req)
	}
}

// toThePage leads to the page, whatever was asked besides.
func (r routes) toThePage(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header.Set("Location", pageRoot)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusFound)
}

func (r routes) health(w http.ResponseWriter, _ *http.Request) {
	s := r.parts.Source.Snapshot()
	r.answer(w, http.StatusOK, Health{
		Status:   "ok",
		Program:  Program,
		Version:  r.parts.Version,
		PID:      os.Getpid(),
		Ready:    s.Seq > 0, // the model publishes nothing before
		Seq:      s.Seq,
		Warnings: append([]string{}, s.Warnings...),
	})
}

// firstSnapshot is how long a request waits for the model's first look: less
// than a client waits for the answer, so that it learns why there is none.
const firstSnapshot = answerTime - 500*time.Millisecond

func (r routes) instances(w http.ResponseWriter, req *http.Request) {
	if s := r.snapshot(w, req); s != nil {
		list := r.parts.Rows.Of(s)
		r.answer(w, http.StatusOK, instancesOf(s, list, view.Sent(list, time.Now())))
	}
}

// snapshot is the newest snapshot. A request that comes while the process is
// starting waits for the first, so that it is not told that there is nothing;
// nil means that none came, which was answered.
func (r routes) snapshot(w http.ResponseWriter, req *http.Request) *monitor.Snapshot {
	if s := r.parts.Source.Snapshot(); s.Seq > 0 {
		return s
	}
	snapshots, cancel := r.parts.Source.Subscribe()
	defer cancel()
	ctx, stop := context.WithTimeout(req.Context(), firstSnapshot)
	defer stop()
	select {
	case s := <-snapshots:
		return s
	case <-ctx.Done():
		r.fail(w, http.StatusServiceUnavailable, "lamplighter has only just started and is still looking for servers; ask again")
		return nil
	}
}

func (r routes) postShow(w http.ResponseWriter, _ *http.Request) {
	url, err := r.parts.Show.Show()
	answer := Shown{URL: view.Known(url)}
	if err != nil {
		answer.Reason = view.Known(err.Error())
	}
	r.answer(w, http.StatusOK, answer)
}

func (r routes) answer(w http.ResponseWriter, status int, v any) { answer(w, r.parts.Log, status, v) }

func (r routes) fail(w http.ResponseWriter, status int, text string) {
	r.answer(w, status, Failure{Error: text})
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, log *slog.Logger, status int, v any) {
	body, err := Marshal(v)
	if err != nil {
		log.Error("an answer cannot be encoded", "error", err)
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be encoded; see the log"}`)
	}
	if err := write(w, status, body); err != nil {
		log.Debug("an answer was not taken", "error", err)
	}
}

// write writes JSON as an answer, on a line of its own.
func write(w http.ResponseWriter, status int, body []byte) error {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, err := w.Write(append(body, '\n'))
	return err
}
