package policies

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// view is what Plan says, made by Serve and not changed then.
type view struct {
	standing monitor.Policy
	plans    map[monitor.Identity]shown
}

// shown is a plan as views see it.
type shown struct {
	rule   policy.Rule
	at     time.Time
	reason string
	basis  basis
}

// basis is what a plan rests on, as far as it may change at any moment.
type basis struct {
	evidence monitor.Evidence
	busy     bool
	pinned   bool
}

func basisOf(in *monitor.Instance) basis {
	b := basis{evidence: in.Evidence, busy: in.Busy == nil || *in.Busy, pinned: in.Pinned}
	b.evidence.KeepsState, b.evidence.SteadyBytes = nil, 0
	return b
}

// same reports whether it is the same, each time being the same moment.
func (b basis) same(other basis) bool {
	x, y := b.evidence, other.evidence
	same := x.AloneSince.Equal(y.AloneSince) && x.IdleSince.Equal(y.IdleSince) && x.RedSince.Equal(y.RedSince)
	for _, e := range []*monitor.Evidence{&x, &y} {
		e.AloneSince, e.IdleSince, e.RedSince = time.Time{}, time.Time{}, time.Time{}
	}
	return same && x == y && b.busy == other.busy && b.pinned == other.pinned
}

// Plan says in a new snapshot how the policies stand and what they mean to do
// about each instance, see watch.Options. It looks nothing up and decides
// nothing: an instance about which something has changed since the last decision
// has no plan until the next one, and then Options.Changed is called. It never
// blocks.
func (e *Engine) Plan(s *monitor.Snapshot) {
	v, said := e.view.Load(), e.saidNow()
	s.Policy = v.standing
	s.Policy.Active = e.o.Active
	if s.Policy.Paused = said.pausedAt(s.At); s.Policy.Paused {
		s.Policy.PausedUntil = said.until
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		in.Plan = monitor.Plan{}
		if until, kept := said.keptAt(in.Identity, s.At); kept {
			in.Plan.KeptUntil = until
		} else if p, planned := v.plans[in.Identity]; planned && !s.Policy.Paused && p.basis.same(basisOf(in)) {
			in.Plan.ShutdownAt, in.Plan.Reason = p.at, p.reason
		}
	}
}

// show makes Plan say what is planned now, and tells when that is something else.
func (e *Engine) show(s *monitor.Snapshot, r policy.Rules, said bool) {
	after := &view{standing: r.Standing(s), plans: make(map[monitor.Identity]shown, len(e.book.plans))}
	for id, p := range e.book.plans {
		if p.because != "" && !p.announced() {
			continue // it was found in use, and nobody knows whether it will end
		}
		reason := p.reason
		if p.because != "" {
			reason += "; it was not ended yet, because " + p.because
		}
		after.plans[id] = shown{rule: p.rule, at: p.at(), reason: reason, basis: p.basis}
	}
	if before := e.view.Swap(after); said || !before.same(after) {
		e.o.Changed()
	}
}

func (v *view) same(other *view) bool {
	x, y := &v.standing, &other.standing
	if x.Idle != y.Idle || x.Orphans != y.Orphans || !slices.Equal(x.Rules, y.Rules) {
		return false
	}
	return maps.EqualFunc(v.plans, other.plans, func(p, q shown) bool {
		return p.at.Equal(q.at) && p.reason == q.reason && p.basis.same(q.basis)
	})
}

func byIdentity(a, b monitor.Identity) int {
	return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start))
}
