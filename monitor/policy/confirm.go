package policy

import (
	"errors"

	"lamplighter/monitor"
)

// Confirm is nil when the rules, by a snapshot for which the instance was looked at
// anew, end it by the same rule as when it was as given. Otherwise the error says
// what has changed, a part of a sentence.
func Confirm(was *monitor.Instance, rule Rule, s *monitor.Snapshot, r Rules) error {
	r.Duplicates = false // that rule ends nothing
	actions, _ := Decide(s, r)
	return confirm(was, rule, actions, s, "the policy "+string(rule)+" no longer applies")
}

// ConfirmOrder is Confirm for an order of the user for the idle or the orphaned ones. One
// that means all rests on nothing that may change, and has nothing to confirm.
func ConfirmOrder(was *monitor.Instance, rule Rule, s *monitor.Snapshot, r Rules) error {
	changed := "it is not idle any more"
	if rule == Orphans {
		changed = "it is not orphaned any more"
	}
	return confirm(was, rule, Select(s, rule, r), s, changed)
}

// ErrUsed says that an instance was used since it was found to be idle.
var ErrUsed = errors.New("it has just been used")

func confirm(was *monitor.Instance, rule Rule, actions []Action, s *monitor.Snapshot, changed string) error {
	if in := s.Instance(was.Identity); in != nil && rule != Orphans {
		switch {
		case in.Busy != nil && *in.Busy:
			return errors.New(atWork)
		case in.Evidence.IdleSince.IsZero():
			return errors.New(silent)
		case in.Evidence.IdleSince.After(was.Evidence.IdleSince):
			return ErrUsed
		}
	}
	for _, a := range actions {
		switch {
		case a.ID != was.Identity:
		case a.Do == End && a.Rule == rule:
			return nil
		case a.Because != "":
			return errors.New(a.Because)
		}
	}
	return errors.New(changed)
}
