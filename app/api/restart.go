package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// OutcomeRestarted is the outcome of a server that was started again.
const OutcomeRestarted stop.Outcome = "restarted"

// RestartOrder is the body of POST /global-dashboard/instance/ID/restart; without a
// body it is the zero value.
type RestartOrder struct {
	Force   bool `json:"force"`   // as that of KillOrder
	DryRun  bool `json:"dry_run"` // say what would be done
	Confirm bool `json:"confirm"` // also when a client loses it
}

// Restarter ends a server that clients share by end, starts it again, and returns the
// new one: share.Broker. The error may be a *stop.Refusal.
type Restarter interface {
	Restart(ctx context.Context, in *monitor.Instance, force bool, end func(context.Context) error) (monitor.Identity, error)
}

// restart ends one instance as kill does, and starts it again where its clients have
// it through us. Elsewhere only its client can.
func (r routes) restart(w http.ResponseWriter, req *http.Request) {
	order, ok := bodyOf(r, w, req, parseRestart)
	if !ok {
		return
	}
	in := r.instance(w, req)
	if in == nil {
		return
	}
	shown := view.Of(in)
	how := view.Value(shown.Restart)
	switch {
	case in.State == monitor.StateParked:
		r.refuse(w, parkedText(in))
		return
	case how == "":
		r.refuse(w, "Not restarted: "+in.Label()+": only whoever started it can start it again.")
		return
	case how == view.ClientsLost && !order.Confirm && !order.DryRun:
		r.refuse(w, "Not restarted: "+in.Label()+": it has to be confirmed. "+shown.Words.Restart)
		return
	}
	askers, seen := r.askers(w, req, in)
	if !seen {
		return
	}
	var result stop.Result
	end := func(ctx context.Context) (err error) {
		result, err = r.parts.Stop.Stop(ctx, *in, stop.Order{Force: order.Force, DryRun: order.DryRun, Protect: askers, By: orderedBy(req)})
		return err
	}
	ctx := context.WithoutCancel(req.Context())
	if order.DryRun || how == view.ClientsLost {
		err := end(ctx)
		answer := AnswerTo(result, err)
		if order.DryRun && err == nil {
			answer.Detail += " " + shown.Words.Restart
		}
		r.answer(w, statusOf(result, err), answer)
		return
	}
	if r.parts.Restarter == nil {
		r.fail(w, http.StatusServiceUnavailable, "nothing can be restarted here")
		return
	}
	next, err := r.parts.Restarter.Restart(ctx, in, order.Force, end)
	var refusal *stop.Refusal
	if result.Outcome == "" && errors.As(err, &refusal) { // it has not come to the ladder
		result = stop.Result{Outcome: stop.Refused, Detail: refusal.Error()}
	}
	answer := AnswerTo(result, err)
	switch {
	case err == nil && next == (monitor.Identity{}):
		answer.Detail += " The next request of a client starts it again."
	case err == nil:
		answer.Outcome, answer.Detail = OutcomeRestarted, fmt.Sprintf("Restarted: %s. Its process is %d now.", in.Label(), next.PID)
	case result.Outcome == stop.Ended:
		answer.Outcome = stop.Failed
		answer.Error = monitor.Sentence(fmt.Sprintf("Ended, and not started again: %s: %s", in.Label(), monitor.Clean(err.Error())))
		answer.Detail = answer.Error
		r.answer(w, http.StatusBadGateway, answer)
		return
	}
	r.answer(w, statusOf(result, err), answer)
}

// LanguageServerRestarted is the answer to POST /global-dashboard/instance/ID/restart-language-server.
type LanguageServerRestarted struct {
	Detail string `json:"detail"` // whole sentences
}

func (r routes) restartLanguageServer(w http.ResponseWriter, req *http.Request) {
	if _, ok := bodyOf(r, w, req, parseNothing); !ok {
		return
	}
	in := r.instance(w, req)
	switch {
	case in == nil:
		return
	case r.parts.RestartLanguageServer == nil:
		r.fail(w, http.StatusServiceUnavailable, "no language server can be restarted here")
		return
	case in.State == monitor.StateParked:
		r.fail(w, http.StatusConflict, monitor.Clean(in.Label())+" is parked, so that nothing of it runs")
		return
	}
	askers, seen := r.askers(w, req, in)
	if !seen {
		return
	}
	// Once begun it goes on, as kill does.
	detail, err := r.parts.RestartLanguageServer(context.WithoutCancel(req.Context()), *in, stop.Order{By: orderedBy(req), Protect: askers})
	switch {
	case errors.Is(err, process.ErrGone):
		r.fail(w, http.StatusNotFound, err.Error())
	case err != nil:
		r.fail(w, http.StatusConflict, err.Error())
	default:
		r.answer(w, http.StatusOK, LanguageServerRestarted{detail})
	}
}

// parseRestart reads a RestartOrder and nothing else.
func parseRestart(body []byte) (order RestartOrder, err error) {
	if len(body) == 0 {
		return order, nil
	}
	if err := payload.Decode(body, &order, "force", "dry_run", "confirm"); err != nil {
		return RestartOrder{}, fmt.Errorf(`the body is not an order like {"confirm":true,"force":false,"dry_run":false}: %s`, monitor.Clean(err.Error()))
	}
	return order, nil
}
