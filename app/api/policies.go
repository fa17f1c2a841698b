package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter/app/payload"
	"lamplighter/app/policies"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/view"
)

const (
	policyPath    = pageRoot + "policy"
	decisionsPath = pageRoot + "decisions"
)

const noPolicies = "there are no policies here"

// policy answers how the policies stand.
func (r routes) policy(w http.ResponseWriter, req *http.Request) {
	if s := r.snapshot(w, req); s != nil {
		r.answer(w, http.StatusOK, policyOf(s))
	}
}

// policyOf is how the policies stand, with a list of rules also before there are any.
func policyOf(s *monitor.Snapshot) monitor.Policy {
	p := s.Policy
	p.Rules = append([]monitor.PolicyRule{}, p.Rules...)
	return p
}

// setPolicy pauses the policies, resumes them or switches a rule.
func (r routes) setPolicy(w http.ResponseWriter, req *http.Request) {
	order, ok := bodyOf(r, w, req, parsePolicyOrder)
	if !ok {
		return
	}
	s := r.snapshot(w, req)
	switch {
	case s == nil:
	case r.parts.Policies == nil || order.idle != nil && r.parts.SetIdle == nil:
		r.fail(w, http.StatusServiceUnavailable, noPolicies)
	case order.idle != nil:
		if err := r.parts.SetIdle(order.span, order.idle.Attached); err != nil {
			r.fail(w, http.StatusConflict, err.Error())
			return
		}
		r.answer(w, http.StatusOK, order.idle)
	case order.on && nothingToDo(&s.Policy, order.rule):
		r.fail(w, http.StatusConflict, fmt.Sprintf("the rule %s cannot be switched on: the settings give it nothing to do", order.rule))
	default:
		answer, err := r.carryOut(order, orderedBy(req))
		if err != nil {
			r.fail(w, statusOfPolicies(err), err.Error())
			return
		}
		r.answer(w, http.StatusOK, answer)
	}
}

// statusOfPolicies is the status of what they did not take.
func statusOfPolicies(err error) int {
	if errors.Is(err, policies.ErrInactive) {
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// nothingToDo reports whether the settings leave a rule without a limit.
func nothingToDo(p *monitor.Policy, rule policy.Rule) bool {
	return slices.ContainsFunc(p.Rules, func(r monitor.PolicyRule) bool { return r.Name == string(rule) && !r.Set })
}

// carryOut does what the order says and returns the answer to it.
func (r routes) carryOut(order policyOrder, by string) (any, error) {
	switch {
	case order.rule != "":
		return Switched{Rule: order.rule, On: order.on}, r.parts.Policies.Switch(order.rule, order.on, by)
	case !order.paused:
		return Paused{}, r.parts.Policies.Resume(by)
	}
	var until time.Time
	if order.span > 0 {
		until = time.Now().Add(order.span)
	}
	return Paused{Paused: true, PausedUntil: view.Moment(until)}, r.parts.Policies.Pause(until, by)
}

// keep has no policy end an instance for a time.
func (r routes) keep(w http.ResponseWriter, req *http.Request) {
	span, ok := bodyOf(r, w, req, parseKeep)
	if !ok {
		return
	}
	in := r.instance(w, req)
	switch {
	case in == nil:
	case r.parts.Policies == nil:
		r.fail(w, http.StatusServiceUnavailable, noPolicies)
	default:
		var kept Kept
		if span > 0 {
			kept.KeptUntil = view.Moment(time.Now().Add(span))
		}
		if err := r.parts.Policies.Keep(*in, span, orderedBy(req)); err != nil {
			r.fail(w, statusOfPolicies(err), err.Error())
			return
		}
		r.answer(w, http.StatusOK, kept)
	}
}

// decisions answers what the policies, or an order of the user, would do now.
func (r routes) decisions(w http.ResponseWriter, req *http.Request) {
	what, err := parseWhat(req.URL.RawQuery)
	if err != nil {
		r.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if r.parts.Policies == nil {
		r.fail(w, http.StatusServiceUnavailable, noPolicies)
		return
	}
	if s := r.snapshot(w, req); s != nil {
		r.answer(w, http.StatusOK, EncodeDecisions(r.parts.Policies.Decisions(s, what)))
	}
}

// parseWhat reads what=idle. Without it the policies themselves are meant.
func parseWhat(rawQuery string) (policy.Rule, error) {
	query, err := url.ParseQuery(rawQuery)
	switch {
	case err != nil:
		return "", errors.New("what follows the question mark cannot be read: " + monitor.Clean(err.Error()))
	case len(query["what"]) > 1:
		return "", errors.New("what is given more than once")
	}
	switch what := policy.Rule(query.Get("what")); what {
	case "", policy.Idle, policy.Orphans, policy.Everything:
		return what, nil
	default:
		return "", fmt.Errorf("what: %q is not one of idle, orphans, all", monitor.Shorten(monitor.Clean(string(what)), 40))
	}
}

// policyOrder is one thing to be done: a rule is switched, or all are paused or
// resumed.
type policyOrder struct {
	rule   policy.Rule // "": none is switched
	on     bool
	paused bool
	span   time.Duration // of a pause; 0: until they are resumed
	idle   *Idle         // nil: the idle rule is not set; span is its time then
}

// parsePolicyOrder reads one order and nothing else.
func parsePolicyOrder(body []byte) (policyOrder, error) {
	const like = `the body is not like {"paused":true,"minutes":60}, with null for "until resumed", {"paused":false}, {"rule":"idle","on":false} or {"rule":"idle","minutes":30,"attached":false}, with null for "never"`
	values, err := payload.Object(body, "paused", "minutes", "rule", "on", "attached")
	if err != nil {
		return policyOrder{}, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	var given struct {
		Paused  *bool    `json:"paused"`
		Minutes *float64 `json:"minutes"`
		Rule    *string  `json:"rule"`
		On      *bool    `json:"on"`
		Attach  *bool    `json:"attached"`
	}
	if err := json.Unmarshal(body, &given); err != nil {
		return policyOrder{}, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	_, minutes := values["minutes"]
	switch {
	case given.Rule != nil && minutes && given.Attach != nil && len(values) == 3:
		return parseIdle(policy.Rule(*given.Rule), given.Minutes, *given.Attach)
	case given.Rule != nil && given.On != nil && len(values) == 2:
		rule := policy.Rule(*given.Rule)
		if !slices.Contains(policy.All, rule) {
			return policyOrder{}, fmt.Errorf("rule: %q is not one of %s", monitor.Shorten(monitor.Clean(*given.Rule), 40), ruleNames())
		}
		return policyOrder{rule: rule, on: *given.On}, nil
	case given.Paused == nil || given.Rule != nil || given.On != nil || given.Attach != nil || len(values) > 2 || len(values) == 2 && !minutes:
		return policyOrder{}, errors.New(like)
	case !*given.Paused && minutes:
		return policyOrder{}, errors.New("minutes is for a pause; policies that are resumed go on at once")
	case !*given.Paused || given.Minutes == nil:
		return policyOrder{paused: *given.Paused}, nil
	}
	span, err := spanOf(*given.Minutes)
	if err == nil && span == 0 {
		err = errors.New(`minutes: 0 is no pause; use null for "until resumed"`)
	}
	return policyOrder{paused: err == nil, span: span}, err
}

// parseIdle reads how the idle rule is to be set.
func parseIdle(rule policy.Rule, minutes *float64, attached bool) (policyOrder, error) {
	order := policyOrder{idle: &Idle{Rule: rule, Minutes: minutes, Attached: attached}}
	switch {
	case rule != policy.Idle:
		return policyOrder{}, fmt.Errorf("rule: minutes are of %s alone", policy.Idle)
	case minutes == nil && attached:
		return policyOrder{}, errors.New("attached: it ends nothing while minutes is null")
	case minutes == nil:
		return order, nil
	}
	var err error
	if order.span, err = spanOf(*minutes); err == nil && order.span == 0 {
		err = errors.New(`minutes: 0 is no time; use null for "never"`)
	}
	if err != nil {
		return policyOrder{}, err
	}
	return order, nil
}

func ruleNames() string {
	names := make([]string, len(policy.All))
	for i, rule := range policy.All {
		names[i] = string(rule)
	}
	return strings.Join(names, ", ")
}

// parseKeep reads {"minutes":60} and nothing else.
func parseKeep(body []byte) (time.Duration, error) {
	const like = `the body is not like {"minutes":60}, with 0 for "no longer"`
	var keep struct {
		Minutes *float64 `json:"minutes"`
	}
	if err := payload.Decode(body, &keep, "minutes"); err != nil {
		return 0, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	if keep.Minutes == nil {
		return 0, errors.New(like)
	}
	return spanOf(*keep.Minutes)
}

// The bounds of a span that the user gives: who wants more than the longest
// wants it without an end.
const (
	shortestSpan = time.Second
	longestSpan  = 30 * 24 * time.Hour
)

// spanOf is a number of minutes, which may have a fraction.
func spanOf(minutes float64) (time.Duration, error) {
	most := longestSpan.Minutes()
	if minutes < 0 || minutes > most || minutes > 0 && minutes < shortestSpan.Minutes() {
		return 0, fmt.Errorf("minutes: %v is not from a second (%.3f) to 30 days (%.0f)", minutes, shortestSpan.Minutes(), most)
	}
	return time.Duration(math.Round(minutes * float64(time.Minute))), nil
}
