package serena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"lamplighter/monitor"
)

// handler makes the routes, behind their guard, for the port that we have. Each
// is as Serena's own tray manager has it, with its answers. A failure is
// {"error": "…"} and its status; Serena writes it to its log.
func (e *TrayEndpoint) handler(port int) http.Handler {
	table := []struct {
		method, path string
		serve        func(*http.Request) (status string, err error)
	}{
		{http.MethodGet, "/health", func(*http.Request) (string, error) { return "alive", nil }},
		{http.MethodPost, "/register", func(r *http.Request) (string, error) { return e.register(r, port) }},
		{http.MethodPost, "/update_project", e.updateProject},
		{http.MethodPost, "/unregister", e.unregister},
	}
	mux := http.NewServeMux()
	for _, t := range table {
		mux.HandleFunc(t.method+" "+t.path, func(w http.ResponseWriter, r *http.Request) {
			if status, err := t.serve(r); err != nil {
				e.fail(w, r, err)
			} else {
				reply(w, http.StatusOK, map[string]string{"status": status})
			}
		})
		allow := t.method
		if allow == http.MethodGet {
			allow += ", " + http.MethodHead
		}
		mux.HandleFunc(t.path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", allow)
			e.fail(w, r, refused{http.StatusMethodNotAllowed, r.Method + " is not possible here; use " + allow})
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		e.fail(w, r, refused{http.StatusNotFound, "there is nothing at this address"})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := guard(r, port); err != nil {
			e.fail(w, r, err)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// refused is an answer other than 200.
type refused struct {
	status int
	why    string
}

func (r refused) Error() string { return r.why }

// guard keeps web pages out, which a browser may send here: they cannot hide
// where they come from. A Host of another name is a page whose own address was
// pointed at us. Other users were kept out when they connected.
func guard(r *http.Request, port int) error {
	host, hostPort, err := net.SplitHostPort(r.Host)
	if err != nil || hostPort != strconv.Itoa(port) || host != "127.0.0.1" && host != "localhost" && host != "::1" {
		return refused{http.StatusForbidden, fmt.Sprintf("Host must be 127.0.0.1:%d", port)}
	}
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if _, page := r.Header[name]; page {
			return refused{http.StatusForbidden, "requests of web pages are refused"}
		}
	}
	return nil
}

func (e *TrayEndpoint) register(r *http.Request, ourPort int) (string, error) {
	body, err := readBody(r)
	if err != nil {
		return "", err
	}
	c, err := parseRegister(body)
	if err != nil {
		return "", refused{http.StatusBadRequest, err.Error()}
	}
	if c.port == ourPort {
		return "", refused{http.StatusBadRequest, "this is lamplighter's own port"}
	}
	select {
	case e.places <- struct{}{}:
		defer func() { <-e.places }()
	default:
		return "", refused{http.StatusServiceUnavailable, "too many registrations at once"}
	}
	id, err := e.owner(r.Context(), c)
	switch {
	case r.Context().Err() != nil:
		return "", refused{http.StatusServiceUnavailable, "lamplighter is ending"}
	case err != nil:
		return "", refused{http.StatusBadRequest, err.Error()}
	}
	n := Registration{Identity: id, Port: c.port, Project: c.project, StartedAt: c.startedAt, OpenViewer: c.openViewer}
	news, asked := e.known.add(n)
	if news {
		e.options.Register(n)
	}
	if e.opens(r.Context(), n, asked, time.Now()) {
		e.options.OpenViewer(n)
	}
	return "registered", nil
}

// owner checks a claim. Serena registers from one thread while it opens the
// port of its dashboard in another, so that the port may come a moment later.
func (e *TrayEndpoint) owner(ctx context.Context, c claim) (monitor.Identity, error) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	enough := time.NewTimer(e.limits.Settle)
	defer enough.Stop()
	for {
		id, err := e.check(ctx, c)
		if !errors.Is(err, ErrNotListening) {
			return id, err
		}
		select {
		case <-again.C:
		case <-enough.C:
			return id, err
		case <-ctx.Done():
			return id, err
		}
	}
}

func (e *TrayEndpoint) check(ctx context.Context, c claim) (monitor.Identity, error) {
	select {
	case e.checks <- struct{}{}:
		defer func() { <-e.checks }()
		return e.options.Owner(c.pid, c.port)
	case <-ctx.Done():
		return monitor.Identity{}, ctx.Err()
	}
}

// opens tells whether the page of an instance is to be opened now; asked are
// those that have asked for theirs before.
func (e *TrayEndpoint) opens(ctx context.Context, n Registration, asked []monitor.Identity, now time.Time) bool {
	if !n.OpenViewer || !e.known.mayOpen(now) {
		return false
	}
	select {
	case e.checks <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	one := slices.ContainsFunc(asked, func(id monitor.Identity) bool { return id == n.Identity || e.alive(id) })
	<-e.checks
	return !one && e.known.open(now)
}

// updateProject answers as Serena's tray manager does also when nobody is known
// on that port: it may have registered with another one, before us.
func (e *TrayEndpoint) updateProject(r *http.Request) (string, error) {
	port, project, err := readUpdate(r)
	if err != nil {
		return "", err
	}
	if n, changed := e.known.update(port, project); changed {
		e.options.UpdateProject(n)
	}
	return "updated", nil
}

func (e *TrayEndpoint) unregister(r *http.Request) (string, error) {
	port, _, err := readUpdate(r)
	if err != nil {
		return "", err
	}
	if n, known := e.known.leave(port); known {
		e.options.Unregister(n)
	}
	return "unregistered", nil
}

func readUpdate(r *http.Request) (port int, project string, err error) {
	body, err := readBody(r)
	if err != nil {
		return 0, "", err
	}
	port, project, err = parseUpdate(body)
	if err != nil {
		return 0, "", refused{http.StatusBadRequest, err.Error()}
	}
	return port, project, nil
}

func readBody(r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, refused{http.StatusBadRequest, "Content-Type must be application/json"}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxTrayBody+1))
	switch {
	case err != nil:
		return nil, refused{http.StatusBadRequest, "the body did not arrive whole"}
	case len(body) > maxTrayBody:
		return nil, refused{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is greater than %d bytes", maxTrayBody)}
	}
	return body, nil
}

func (e *TrayEndpoint) fail(w http.ResponseWriter, r *http.Request, err error) {
	answer := refused{http.StatusInternalServerError, err.Error()}
	errors.As(err, &answer)
	e.turned.note(r.Method+" "+r.URL.Path, answer)
	reply(w, answer.status, map[string]string{"error": answer.why})
}

// reply answers. An error of the connection is the other side's.
func reply(w http.ResponseWriter, status int, v map[string]string) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// refusals logs what was refused, the more rarely the more there is.
type refusals struct {
	log   *slog.Logger
	mu    sync.Mutex
	count int
}

func (f *refusals) note(what string, answer refused) {
	f.mu.Lock()
	f.count++
	count := f.count
	f.mu.Unlock()
	if count&(count-1) == 0 {
		f.log.Warn("refused a request at the port for Serena servers", "request", monitor.Clean(what), "status", answer.status, "reason", monitor.Clean(answer.why), "count", count)
	}
}
