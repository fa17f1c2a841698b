package policies

import (
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// still is nil when the policies, with all that is known and was said by now,
// would end the instance for the same reason.
func (e *Engine) still(ctx context.Context, id monitor.Identity, rule policy.Rule) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := e.read().now
	for _, a := range policy.Decide(alone(e.o.Source.Snapshot(), id), e.rules(now), now) {
		switch {
		case a.Do == policy.End && a.Rule == rule:
			return nil
		case a.Because != "":
			return errors.New(a.Because)
		}
	}
	return errors.New("the policy " + string(rule) + " no longer applies")
}

// alone is a snapshot with nothing but that instance, if it has it. Only the rule
// about duplicates looks at others, and it ends nothing.
func alone(s *monitor.Snapshot, id monitor.Identity) *monitor.Snapshot {
	one := *s
	one.Instances = nil
	if in := s.Instance(id); in != nil {
		one.Instances = []monitor.Instance{*in}
	}
	return &one
}

// confirm looks once more, when the tree is held, whether what the rule rests on
// holds.
func (e *Engine) confirm(in *monitor.Instance, rule policy.Rule) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := e.still(ctx, in.Identity, rule); err != nil {
			return err
		}
		return e.lookAgain(ctx, in, rule)
	}
}

// lookAgain looks now whether an instance is what a rule ends it for, and was
// when it was seen so.
func (e *Engine) lookAgain(ctx context.Context, in *monitor.Instance, rule policy.Rule) error {
	if rule == policy.Orphans {
		return e.o.Confirm.StillAlone(ctx, in.Identity)
	}
	return e.o.Confirm.StillIdle(ctx, in.Identity, in.Evidence.IdleSince)
}

// confirmNotice looks once more, when the tree is held, whether something that a
// notice said of an instance holds. The user is there: neither a pause nor that
// he kept it before counts, nor that the machine slept, and what is left to him
// ends as well.
func (e *Engine) confirmNotice(in *monitor.Instance, grounds []ground) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := e.read().now
		r := e.rules(now)
		r.Paused, r.Kept, r.AwakeSince = false, nil, time.Time{}
		err := errors.New("what the notification said of it no longer holds")
		// All of the snapshot, for a duplicate is one beside another.
		for _, a := range policy.Decide(e.o.Source.Snapshot(), r, now) {
			i := slices.IndexFunc(grounds, func(g ground) bool { return g.rule == a.Rule })
			switch {
			case a.ID != in.Identity:
			case a.Do == policy.Refuse:
				err = errors.New(a.Because)
			case i < 0:
			case a.Do == policy.Notify && a.Rule != policy.Idle:
				return nil
			default:
				seen := *in
				seen.Evidence.IdleSince = grounds[i].idle
				return e.lookAgain(ctx, &seen, a.Rule)
			}
		}
		return err
	}
}

// Confirm is for stop.Order: it looks once more whether an order of the user for
// the idle or the orphaned instances means this one, which was found idle or
// orphaned as it is given here. The error says in words why not. For an order that
// means all there is nothing to look for, and it is nil.
func (e *Engine) Confirm(in monitor.Instance, w policy.What) func(context.Context) error {
	rule, changed := policy.Idle, "it is not idle any more"
	switch w {
	case policy.WhatIdle:
	case policy.WhatOrphans:
		rule, changed = policy.Orphans, "it is not orphaned any more"
	default:
		return nil
	}
	return func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := e.read().now
		for _, a := range policy.Select(alone(e.o.Source.Snapshot(), in.Identity), w, e.rules(now), now) {
			if a.Do == policy.End {
				return e.lookAgain(ctx, &in, rule)
			}
			changed = a.Because
		}
		return errors.New(changed)
	}
}

// order is what the ladder is told.
func (e *Engine) order(in *monitor.Instance, rule policy.Rule) stop.Order {
	return stop.Order{By: "the policy " + string(rule), Automatic: true, Confirm: e.confirm(in, rule)}
}
