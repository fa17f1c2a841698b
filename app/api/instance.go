package api

import (
	"errors"
	"fmt"
	"net/http"

	"lamplighter/app/dashboard"
	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// Pin is the body of PUT /global-dashboard/instance/ID/pin, and its answer.
type Pin struct {
	Pinned bool `json:"pinned"`
}

// instance is the one that the path names by its id or pid. Nil means that
// there is none, which was answered.
func (r routes) instance(w http.ResponseWriter, req *http.Request) *monitor.Instance {
	s := r.snapshot(w, req)
	if s == nil {
		return nil
	}
	in := instanceBy(s, req.PathValue("id"))
	if in == nil {
		r.fail(w, http.StatusNotFound, noServer(req))
	}
	return in
}

func noServer(req *http.Request) string {
	return fmt.Sprintf("no server is %q; it may have ended", monitor.Clean(req.PathValue("id")))
}

// forward makes the handler of a route that the instance itself answers.
func (r routes) forward(to dashboard.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		in := r.instance(w, req)
		if in == nil {
			return
		}
		var permit func() bool
		if to.Ends() {
			permit = func() bool { return r.mayEnd(w, req, in) }
		}
		r.parts.Proxy.Forward(w, req, in, to, permit)
	}
}

// history is also that of an instance that has ended, by its id: its pid may
// be another process by now.
func (r routes) history(w http.ResponseWriter, req *http.Request) {
	s := r.snapshot(w, req)
	if s == nil {
		return
	}
	word := req.PathValue("id")
	id, err := monitor.ParseIdentity(word)
	known := err == nil && id.String() == word
	if in := instanceBy(s, word); in != nil {
		id, known = in.Identity, true
	}
	if known {
		if h, ok := r.parts.Recorder.History(id); ok {
			r.answer(w, http.StatusOK, h)
			return
		}
	}
	r.fail(w, http.StatusNotFound, noServer(req))
}

// total is the history of all instances together.
func (r routes) total(w http.ResponseWriter, _ *http.Request) {
	r.answer(w, http.StatusOK, r.parts.Recorder.Total())
}

// bodyOf is what parse makes of the body of a request. False means that it made
// nothing of it, which was answered.
func bodyOf[T any](r routes, w http.ResponseWriter, req *http.Request, parse func([]byte) (T, error)) (v T, ok bool) {
	body, status, err := payload.Read(w, req)
	if err != nil {
		r.fail(w, status, err.Error())
		return v, false
	}
	if v, err = parse(body); err != nil {
		r.fail(w, http.StatusBadRequest, err.Error())
		return v, false
	}
	return v, true
}

func (r routes) pin(w http.ResponseWriter, req *http.Request) {
	pinned, ok := bodyOf(r, w, req, parsePin)
	if !ok {
		return
	}
	in := r.instance(w, req)
	switch {
	case in == nil:
	case in.State == monitor.StateParked:
		r.fail(w, http.StatusConflict, monitor.Clean(in.Label())+" is parked, so that there is nothing that could be ended; pin it when it runs again")
	case r.parts.Pins == nil:
		r.fail(w, http.StatusServiceUnavailable, "nothing can be pinned here")
	default:
		switch err := r.parts.Pins.Pin(*in, pinned, orderedBy(req)); {
		case errors.Is(err, process.ErrGone):
			r.fail(w, http.StatusNotFound, err.Error())
		case err != nil:
			r.fail(w, http.StatusInternalServerError, err.Error())
		default:
			r.answer(w, http.StatusOK, Pin{Pinned: pinned})
		}
	}
}

// Rule is the body of PUT /global-dashboard/instance/ID/rule, and its answer: a process
// on a client's pipes, and its like, are servers of that name, or hidden.
type Rule struct {
	Name   string `json:"name"`
	Hidden bool   `json:"hidden"`
}

func (r routes) rule(w http.ResponseWriter, req *http.Request) {
	rule, ok := bodyOf(r, w, req, parseRule)
	if !ok {
		return
	}
	in := r.instance(w, req)
	switch {
	case in == nil:
	case r.parts.AddRule == nil:
		r.fail(w, http.StatusServiceUnavailable, "no rule can be written here")
	default:
		if err := r.parts.AddRule(in, rule.Name); err != nil {
			r.fail(w, http.StatusConflict, monitor.Clean(err.Error()))
			return
		}
		r.parts.Log.Info("rule for a child of a client", "by", orderedBy(req), "pid", in.Identity.PID, "name", rule.Name)
		r.answer(w, http.StatusOK, rule)
	}
}

// parseRule reads a Rule and nothing else.
func parseRule(body []byte) (rule Rule, err error) {
	const like = `the body is not like {"name":"notes"} or {"hidden":true}`
	if err := payload.Decode(body, &rule, "name", "hidden"); err != nil {
		return Rule{}, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	if (rule.Name == "") != rule.Hidden {
		return Rule{}, errors.New(like)
	}
	return rule, nil
}

// parsePin reads a Pin and nothing else.
func parsePin(body []byte) (pinned bool, err error) {
	const like = `the body is not like {"pinned":true}`
	var pin struct {
		Pinned *bool `json:"pinned"`
	}
	if err := payload.Decode(body, &pin, "pinned"); err != nil {
		return false, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	if pin.Pinned == nil {
		return false, errors.New(like)
	}
	return *pin.Pinned, nil
}
