package api

import (
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/view"
)

// Policy is the body of GET /global-dashboard/policy, and a part of Status: how
// the policies stand.
type Policy struct {
	Active      bool         `json:"active"` // this process acts on them
	Paused      bool         `json:"paused"`
	PausedUntil *time.Time   `json:"paused_until"` // null: until somebody resumes them, or not paused
	Idle        int          `json:"idle"`         // how many an order to stop the idle ones means
	Orphans     int          `json:"orphans"`      // and the orphaned ones
	Rules       []PolicyRule `json:"rules"`        // in the order in which views list them
}

// PolicyRule is one rule and its switch.
type PolicyRule struct {
	Name  policy.Rule `json:"name"`
	Words string      `json:"words"` // what it does: "End orphaned servers after 10 min"
	On    bool        `json:"on"`
	Set   bool        `json:"set"` // false: the settings give it nothing to do, and it cannot be switched on
	// Minutes is when an idle server ends, null for never, and Attached whether one does
	// whose client is connected; not of other rules.
	Minutes  *float64 `json:"minutes,omitempty"`
	Attached *bool    `json:"attached,omitempty"`
}

// Idle is the body of an order to set the idle rule, and its answer.
type Idle struct {
	Rule     policy.Rule `json:"rule"`
	Minutes  *float64    `json:"minutes"` // null: never
	Attached bool        `json:"attached"`
}

// Paused is the answer to an order to pause the policies or to resume them.
type Paused struct {
	Paused      bool       `json:"paused"`
	PausedUntil *time.Time `json:"paused_until"`
}

// Switched is the body of an order to switch a rule, and its answer.
type Switched struct {
	Rule policy.Rule `json:"rule"`
	On   bool        `json:"on"`
}

// Kept is the answer to PUT /global-dashboard/instance/ID/keep.
type Kept struct {
	KeptUntil *time.Time `json:"kept_until"` // null: no longer
}

// Decisions is the body of GET /global-dashboard/decisions.
type Decisions struct {
	Decisions []Decision `json:"decisions"`
}

// Decision is what is decided about one instance, and on what it rests.
type Decision struct {
	ID       string       `json:"id"`
	Label    string       `json:"label"`
	Rule     *policy.Rule `json:"rule"` // null: an order that names no rule
	Do       policy.Do    `json:"do"`
	At       *time.Time   `json:"at"`      // when it is due
	Reason   *string      `json:"reason"`  // a part of a sentence: "no call for 30 min"
	Because  *string      `json:"because"` // what stands against ending it
	Evidence []string     `json:"evidence"`
	Words    view.Phrase  `json:"words"` // "stops at", with the time and why; its text may change in any release
}

// EncodeDecisions turns actions into their wire form.
func EncodeDecisions(actions []policy.Action) Decisions {
	list := make([]Decision, len(actions))
	for i := range actions {
		a := &actions[i]
		list[i] = Decision{
			ID: a.ID.String(), Label: a.Label, Rule: view.Known(a.Rule), Do: a.Do, At: view.Moment(a.At),
			Reason: view.Known(a.Reason), Because: view.Known(a.Because), Evidence: []string{},
			Words: decisionWords(a),
		}
		if a.Evidence != nil {
			list[i].Evidence = a.Evidence()
		}
	}
	return Decisions{Decisions: list}
}

// decisionWords says what is decided and why.
func decisionWords(a *policy.Action) view.Phrase {
	words := view.Phrase{Why: a.Reason}
	switch {
	case a.Do == policy.End:
		words.Text = "stops now"
	case a.Do == policy.Wait && a.At.IsZero():
		words.Text = "stops later"
	case a.Do == policy.Wait && a.Because != "":
		words.Text, words.At = "goes on, and you are told at", view.Moment(a.At)
	case a.Do == policy.Wait:
		words.Text, words.At = "stops at", view.Moment(a.At)
	case a.Do == policy.Refuse:
		words.Text = "is left alone"
	default:
		words.Text = "goes on, and you are told"
	}
	if a.Because != "" {
		words.Why = strings.TrimPrefix(words.Why+", but "+a.Because, ", but ")
	}
	return words
}

func encodePolicy(p *monitor.Policy) Policy {
	w := Policy{
		Active: p.Active, Paused: p.Paused, PausedUntil: view.Moment(p.PausedUntil), Idle: p.Idle, Orphans: p.Orphans,
		Rules: make([]PolicyRule, len(p.Rules)),
	}
	for i, rule := range p.Rules {
		w.Rules[i] = PolicyRule{Name: policy.Rule(rule.Name), Words: rule.Words, On: rule.On, Set: rule.Set}
		if rule.Name == string(policy.Idle) {
			w.Rules[i].Minutes, w.Rules[i].Attached = view.Known(rule.After.Minutes()), &rule.Attached
		}
	}
	return w
}

func samePolicy(p, q *monitor.Policy) bool {
	return p.Active == q.Active && p.Paused == q.Paused && p.PausedUntil.Equal(q.PausedUntil) && p.Idle == q.Idle && p.Orphans == q.Orphans &&
		slices.Equal(p.Rules, q.Rules)
}
