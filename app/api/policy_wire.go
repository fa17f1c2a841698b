package api

import (
	"time"

	"lamplighter/monitor/policy"
	"lamplighter/monitor/view"
)

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
	words := view.Phrase{Why: policy.But(a.Reason, a.Because)}
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
	return words
}
