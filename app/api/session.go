package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"lamplighter/app/payload"
	"lamplighter/app/session"
	"lamplighter/monitor"
)

// SessionManager starts and ends sessions: session.Manager.
type SessionManager interface {
	Request(ctx context.Context, r session.Request) (session.Session, error)
	Release(ctx context.Context, id int, by string) (session.Status, error)
	List() []session.Session
}

// The errors of the two routes that users asked for are theirs, to the letter.
// What was wrong in particular stands in our log.
const (
	badProjectPath = "Invalid or missing 'project_path'"
	badSessionID   = "Invalid or missing 'session_id'"
)

// givenUp answers a client that has closed its end, and may still read. To the
// server that cannot be told from one that has gone.
const givenUp = "the connection was closed before the server was ready, so it is not started, or ended again; keep it open until the answer"

// sessionTable are the routes of sessions.
func (r routes) sessionTable() []route {
	return []route{
		{http.MethodPost, "/request-session", r.withSessions(r.requestSession)},
		{http.MethodPost, "/release-session", r.withSessions(r.releaseSession)},
		{http.MethodGet, "/sessions", r.withSessions(r.sessions)},
	}
}

// SessionHandler makes the routes of sessions and GET /health, for a listener
// that serves nothing else.
func SessionHandler(p Parts) http.Handler {
	r := newRoutes(p, 0)
	return r.router(append(r.sessionTable(), route{http.MethodGet, "/health", r.health}))
}

// withSessions answers in place of a route where nobody manages sessions.
func (r routes) withSessions(serve http.HandlerFunc) http.HandlerFunc {
	if r.parts.Sessions != nil {
		return serve
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		r.fail(w, http.StatusServiceUnavailable, "no sessions can be had here")
	}
}

func (r routes) sessions(w http.ResponseWriter, _ *http.Request) {
	r.answer(w, http.StatusOK, encodeSessions(r.parts.Sessions.List()))
}

// requestSession answers when the server takes MCP. When the client does not
// get the answer, the session is released: nobody would know of it.
func (r routes) requestSession(w http.ResponseWriter, req *http.Request) {
	body, status, err := payload.Read(w, req)
	if err != nil {
		r.fail(w, status, err.Error())
		return
	}
	order, err := parseSessionOrder(body)
	if err != nil {
		r.refuseSession(w, http.StatusBadRequest, badProjectPath, err)
		return
	}
	given, err := r.parts.Sessions.Request(req.Context(), session.Request{
		ProjectPath: order.ProjectPath, Server: order.Server, AskedBy: func() monitor.Client { return r.client(req) },
	})
	var tooMany *session.TooMany
	switch {
	case err == nil:
		err := r.deliver(w, http.StatusCreated, SessionGiven{SessionID: given.ID, Host: sessionHost, Port: given.Port})
		if err != nil {
			r.takeBack(req.Context(), given.ID, err)
		}
	case errors.Is(err, session.ErrBadPath):
		r.refuseSession(w, http.StatusBadRequest, badProjectPath, err)
	case errors.Is(err, session.ErrNoServer):
		r.fail(w, http.StatusNotFound, err.Error())
	case errors.As(err, &tooMany):
		r.fail(w, http.StatusTooManyRequests, err.Error())
	case errors.Is(err, session.ErrEnding):
		r.fail(w, http.StatusServiceUnavailable, session.ErrEnding.Error())
	case errors.Is(err, session.ErrNotWanted), errors.Is(err, context.Canceled):
		r.fail(w, http.StatusServiceUnavailable, givenUp)
	default:
		r.fail(w, http.StatusInternalServerError, err.Error())
	}
}

// takeBack releases a session whose answer did not arrive.
func (r routes) takeBack(ctx context.Context, id int, why error) {
	r.parts.Log.Info("who asked for a session did not take the answer; it is ended", "session_id", id, "error", why)
	if _, err := r.parts.Sessions.Release(context.WithoutCancel(ctx), id, "its client has gone"); err != nil {
		r.parts.Log.Warn("a session that nobody knows of could not be ended", "session_id", id, "error", err)
	}
}

func (r routes) releaseSession(w http.ResponseWriter, req *http.Request) {
	body, status, err := payload.Read(w, req)
	if err != nil {
		r.fail(w, status, err.Error())
		return
	}
	id, err := parseSessionID(body)
	if err != nil {
		r.refuseSession(w, http.StatusNotFound, badSessionID, err)
		return
	}
	// Once begun it goes on, also when the client goes away.
	came, err := r.parts.Sessions.Release(req.Context(), id, orderedBy(req))
	switch {
	case err == nil:
		r.answer(w, http.StatusOK, SessionReleased{Status: came, SessionID: id})
	case errors.Is(err, session.ErrUnknown):
		r.refuseSession(w, http.StatusNotFound, badSessionID, err)
	case errors.Is(err, session.ErrEnding):
		r.fail(w, http.StatusServiceUnavailable, session.ErrEnding.Error())
	case errors.Is(err, context.Canceled):
		r.fail(w, http.StatusServiceUnavailable, "the connection was closed before all of session "+strconv.Itoa(id)+" had gone; it is ended all the same")
	default:
		r.fail(w, http.StatusInternalServerError, "releasing session "+strconv.Itoa(id)+": "+err.Error())
	}
}

// refuseSession answers with the words that users asked for, and logs what they
// do not tell.
func (r routes) refuseSession(w http.ResponseWriter, status int, text string, why error) {
	r.parts.Log.Info("refused what was asked of the session manager", "answer", text, "error", why)
	r.fail(w, status, text)
}

// deliver answers, and returns why the answer was not taken if that is known.
func (r routes) deliver(w http.ResponseWriter, status int, v any) error {
	body, err := Marshal(v)
	if err != nil {
		return err
	}
	// Its length tells a client that it has all of it.
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+len("\n")))
	if err := write(w, status, body); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
