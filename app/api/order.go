package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// Stopper ends instances: monitor/stop.
type Stopper interface {
	Stop(ctx context.Context, in monitor.Instance, o stop.Order) (stop.Result, error)
}

// Eventer reads the lifecycle log, newest last: monitor/events.
type Eventer interface {
	Events(since time.Time) ([]monitor.Event, error)
}

// eventsBack is how far events go back without since.
const eventsBack = 24 * time.Hour

// events answers with what happened since then.
func (r routes) events(w http.ResponseWriter, req *http.Request) {
	since := time.Now().Add(-eventsBack)
	query, err := url.ParseQuery(req.URL.RawQuery)
	switch {
	case err != nil:
		r.fail(w, http.StatusBadRequest, "what follows the question mark cannot be read: "+monitor.Clean(err.Error()))
		return
	case len(query["since"]) > 1:
		r.fail(w, http.StatusBadRequest, "since is given more than once")
		return
	}
	if text := query.Get("since"); text != "" {
		if since, err = events.ParseSince(text, time.Now()); err != nil {
			r.fail(w, http.StatusBadRequest, "since: "+err.Error())
			return
		}
	}
	list, err := r.parts.Events.Events(since)
	if err != nil {
		r.fail(w, http.StatusInternalServerError, "the lifecycle log cannot be read: "+err.Error())
		return
	}
	r.answer(w, http.StatusOK, Events{view.Events(list)})
}

// parkedText says why there is nothing to end.
func parkedText(in *monitor.Instance) string {
	return "Not ended: " + in.Label() + " has no process that runs. Its clients stay attached, and the next request starts it again."
}

// maxProtect bounds the pids of an order; each is looked up with its ancestors.
const maxProtect = 64

// kill ends one instance by the stop ladder and answers when that is at its
// end. Once begun it goes on, also when the client goes away: a tree of which a
// part was ended is of use to nobody.
func (r routes) kill(w http.ResponseWriter, req *http.Request) {
	order, ok := bodyOf(r, w, req, parseOrder)
	if !ok {
		return
	}
	s := r.snapshot(w, req)
	if s == nil {
		return
	}
	in := instanceBy(s, req.PathValue("id"))
	if in == nil {
		text := noServer(req)
		r.answer(w, http.StatusNotFound, Killed{Error: text, Result: stop.Result{Outcome: stop.Gone, Detail: text, Steps: []monitor.Event{}}})
		return
	}
	if in.State == monitor.StateParked {
		r.refuse(w, parkedText(in))
		return
	}
	askers, seen := r.askers(w, req, in)
	if !seen {
		return
	}
	o := stop.Order{Force: order.Force, DryRun: order.DryRun, Protect: append(order.Protect, askers...), By: orderedBy(req)}
	if order.Rule != "" {
		if r.parts.Policies == nil {
			r.fail(w, http.StatusServiceUnavailable, noPolicies)
			return
		}
		o.Confirm = r.parts.Policies.Confirm(*in, order.Rule)
	}
	result, err := r.parts.Stop.Stop(context.WithoutCancel(req.Context()), *in, o)
	r.answer(w, statusOf(result, err), AnswerTo(result, err))
}

// refuse answers an order to end an instance that was not given to the ladder.
func (r routes) refuse(w http.ResponseWriter, text string) {
	r.answer(w, http.StatusConflict, Killed{Error: text, Result: stop.Result{Outcome: stop.Refused, Detail: text, Steps: []monitor.Event{}}})
}

// askers are who must not end with the instance: whoever asks, and by the
// ladder's rule what it runs in. The pid that a caller names may be counted in a
// namespace of its own. False means that nobody can say, which was answered.
func (r routes) askers(w http.ResponseWriter, req *http.Request, in *monitor.Instance) (pids []int, seen bool) {
	asker, known := peerOf(req.Context())
	if !known {
		return nil, true
	}
	pids, err := asker.askers()
	if err != nil {
		text := "Not ended: " + in.Label() + ": who asks cannot be seen from here, so it may be part of that server. Ask with a program that runs in no container and lets others see what it has open."
		r.parts.Log.Info("refused an order of somebody who cannot be seen", "instance", in.Label(), "error", err)
		r.refuse(w, text)
		return nil, false
	}
	return pids, true
}

// mayEnd reports whether an instance may be sent what ends it, and records then
// that it was ordered. The ladder says so, as for kill without force; what it
// has against it was answered.
func (r routes) mayEnd(w http.ResponseWriter, req *http.Request, in *monitor.Instance) bool {
	askers, seen := r.askers(w, req, in)
	if !seen {
		return false
	}
	by := orderedBy(req)
	result, err := r.parts.Stop.Stop(req.Context(), *in, stop.Order{DryRun: true, Protect: askers, By: by})
	if err != nil {
		answer := AnswerTo(result, err)
		if answer.Forceable {
			answer.Error += ` To force it, use kill with {"force":true}.`
		}
		r.answer(w, statusOf(result, err), answer)
		return false
	}
	if r.parts.Record != nil {
		r.parts.Record(in.Event(monitor.EventStopOrdered, time.Now(), "by "+by))
	}
	return true
}

// statusOf is the status of the answer to an order, see Killed.
func statusOf(result stop.Result, err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case result.Outcome == stop.Refused:
		return http.StatusConflict
	case result.Outcome == stop.Gone:
		return http.StatusNotFound
	case errors.Is(err, stop.ErrSurvived):
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}

// AnswerTo puts the end of a ladder in the words of the wire.
func AnswerTo(result stop.Result, err error) Killed {
	result.Steps = append([]monitor.Event{}, result.Steps...)
	answer := Killed{Result: result}
	if err == nil {
		return answer
	}
	answer.Error = result.Detail
	if answer.Error == "" {
		answer.Error = err.Error()
	}
	var refusal *stop.Refusal
	if errors.As(err, &refusal) {
		answer.Forceable = refusal.Forceable()
	}
	return answer
}

// instanceBy is the instance with that pid or id, nil when there is none.
func instanceBy(s *monitor.Snapshot, what string) *monitor.Instance {
	for _, in := range s.Instances {
		if in.ID() == what || in.State != monitor.StateParked && strconv.Itoa(in.Identity.PID) == what {
			return in
		}
	}
	return nil
}

// userAgent is what our client calls itself.
const userAgent = "lamplighter"

// orderedBy says in the events who asked. Anybody may call himself what he
// likes: it decides nothing.
func orderedBy(req *http.Request) string {
	_, web := webConnOf(req.Context())
	switch {
	case !web && req.UserAgent() == userAgent:
		return "the command line"
	case web && (req.Header.Get(fetchSite) == "same-origin" || req.Header.Get("Origin") == "http://"+req.Host):
		return "the page" // the guard lets no other page in
	}
	return "a request"
}

// parseOrder reads a KillOrder and nothing else: what is misspelt in an order
// to end something must not be overlooked.
func parseOrder(body []byte) (order KillOrder, err error) {
	if len(body) == 0 {
		return order, nil
	}
	const force, dryRun, protect, rule = "force", "dry_run", "protect", "rule"
	values, err := payload.Object(body, force, dryRun, protect, rule)
	if err == nil {
		err = payload.Decode(body, &order, force, dryRun, protect, rule)
	}
	if err != nil {
		return KillOrder{}, fmt.Errorf("the body is not an order like {\"force\":false,\"dry_run\":true,\"protect\":[1],\"rule\":\"idle\"}: %s", monitor.Clean(err.Error()))
	}
	if _, given := values[rule]; given && order.Rule != policy.Idle && order.Rule != policy.Orphans {
		return KillOrder{}, fmt.Errorf("rule: %q is not one of idle, orphans", monitor.Shorten(monitor.Clean(string(order.Rule)), 40))
	}
	if len(order.Protect) > maxProtect {
		return KillOrder{}, fmt.Errorf("more than %d pids cannot be protected", maxProtect)
	}
	for _, pid := range order.Protect {
		if pid <= 0 {
			return KillOrder{}, fmt.Errorf("protect: %d is not a pid", pid)
		}
	}
	return order, nil
}
