package policies

import (
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// lookAgain judges an instance by what a look at it finds when the tree is held, and by
// what the user has said by then.
func (e *Engine) lookAgain(in *monitor.Instance, judge func(*monitor.Snapshot, policy.Rules) error) func(context.Context) error {
	return func(ctx context.Context) error {
		s, err := e.o.Fresh(ctx, in.Identity)
		if err != nil {
			return err
		}
		return judge(s, e.rules())
	}
}

// confirmNotice looks once more, when the tree is held, whether something that a
// notice said of an instance holds. The user is there: neither a pause nor that
// he kept it before counts, nor that the machine slept, and what is left to him
// ends as well.
func (e *Engine) confirmNotice(in *monitor.Instance, grounds []ground) func(context.Context) error {
	return e.lookAgain(in, func(s *monitor.Snapshot, r policy.Rules) error {
		at := *s
		at.AwakeSince = time.Time{}
		r.Paused, r.Kept = false, nil
		err := errors.New("what the notification said of it no longer holds")
		// All of the snapshot, for a duplicate is one beside another.
		actions, _ := policy.Decide(&at, r)
		for _, a := range actions {
			i := slices.IndexFunc(grounds, func(g ground) bool { return g.rule == a.Rule })
			switch {
			case a.ID != in.Identity:
			case a.Do == policy.Refuse:
				err = errors.New(a.Because)
			case i < 0:
			case a.Rule == policy.Orphans, a.Do == policy.Notify && a.Rule != policy.Idle:
				return nil
			case s.Instance(a.ID).Evidence.IdleSince.After(grounds[i].idle):
				return policy.ErrUsed
			default:
				return nil
			}
		}
		return err
	})
}

// Confirm is for stop.Order: it looks once more whether an order of the user for
// the idle or the orphaned instances means this one, which was found idle or
// orphaned as it is given here. The error says in words why not. For an order that
// means all there is nothing to look for, and it is nil.
func (e *Engine) Confirm(in monitor.Instance, w policy.Rule) func(context.Context) error {
	if w == policy.Everything {
		return nil
	}
	return e.lookAgain(&in, func(s *monitor.Snapshot, r policy.Rules) error {
		return policy.ConfirmOrder(&in, w, s, r)
	})
}
