package policies

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// The bounds of what the engine does.
const (
	// noticeTime is how long before its end an instance's end is announced, at
	// least: or half of the rule's time when that is shorter.
	noticeTime = 5 * time.Minute
	// mostAtOnce is how many instances are being ended at once.
	mostAtOnce = 4
	// A refused end is tried again after firstPause, and after twice as long each
	// further time, up to lastPause.
	firstPause = time.Minute
	lastPause  = time.Hour
	// What was found in use is left alone for firstRest, and for twice as long each
	// further time, up to lastRest. Then its end is announced anew.
	firstRest = hour
	lastRest  = 24 * time.Hour
)

// book is what the engine knows about its decisions. It ends nothing by itself: look
// says what is to be ended. Make one with newBook.
type book struct {
	record  func(monitor.Event)
	plans   map[monitor.Identity]*plan
	running map[monitor.Identity]bool // what the ladder is at, also on the user's word
	gone    map[monitor.Identity]bool // what the ladder has ended, which the next snapshots may not know yet
	refused map[refusal]bool          // that were told, of instances that live
	told    notices
	givenUp map[monitor.Identity]time.Time // since when
	asked   []start                        // what the user wants ended as soon as it can begin
}

func newBook(record func(monitor.Event)) book {
	return book{
		record: record,
		plans:  map[monitor.Identity]*plan{}, running: map[monitor.Identity]bool{},
		gone: map[monitor.Identity]bool{}, refused: map[refusal]bool{},
	}
}

// plan is the end that a rule wants for an instance.
type plan struct {
	rule      policy.Rule
	reason    string
	due       time.Time // by the rule, and by what came of the last try
	notBefore time.Time // zero until it is announced
	made      time.Time
	notice    time.Duration
	refused   monitor.Refused // what came of the last try
	tries     int
	idle      time.Time // since when it was idle
}

// at is when it is carried out, as far as is known.
func (p *plan) at() time.Time { return later(p.due, p.notBefore) }

// holdsOf reports whether an instance is as idle as when its end was planned.
func (p *plan) holdsOf(in *monitor.Instance) bool {
	return p.rule == policy.Orphans || p.idle.Equal(in.Evidence.IdleSince)
}

// refusedOf is what came of the last try to end an instance, for as long as the same end
// is planned.
func (b *book) refusedOf(in *monitor.Instance) monitor.Refused {
	if p := b.plans[in.Identity]; p != nil && p.holdsOf(in) {
		return p.refused
	}
	return monitor.Refused{}
}

// plan is what people see of the end that is planned for an instance. When it was found
// in use nobody knows whether it will end, until that is announced anew.
func (b *book) plan(id monitor.Identity) monitor.Plan {
	p := b.plans[id]
	if p == nil || p.tries > 0 && !p.announced() {
		return monitor.Plan{}
	}
	shown := monitor.Plan{ShutdownAt: p.at(), Reason: p.reason}
	if why := p.refused.Why; why != "" {
		shown.Reason += "; it was not ended yet, because " + why
	}
	return shown
}

func (p *plan) announced() bool { return !p.notBefore.IsZero() }

// next is when something is to be done about it.
func (p *plan) next() time.Time {
	if !p.announced() {
		return p.at().Add(-p.notice)
	}
	return p.at()
}

// refusal is one reason why an instance goes on although a rule applies.
type refusal struct {
	id   monitor.Identity
	rule policy.Rule
	kind string // the words of a policy, or the kind of a refusal of the ladder
}

// start is an end to begin.
type start struct {
	in     monitor.Instance
	rule   policy.Rule // "" = the user's word
	reason string
	// With the user's word: one of them has to hold still.
	grounds []ground
}

// look compares what is decided about a snapshot with what was planned, and returns
// the ends to begin.
func (b *book) look(s *monitor.Snapshot, actions []policy.Action, r policy.Rules) (due []start) {
	now := s.At
	instances := make(map[monitor.Identity]*monitor.Instance, len(s.Instances))
	for _, in := range s.Instances {
		instances[in.Identity] = in
	}
	b.forget(instances)
	wanted := make(map[monitor.Identity]bool, len(actions))
	against := make(map[monitor.Identity]string)
	b.told.begin()
	given := make(map[monitor.Identity]time.Time)
	for _, a := range actions {
		in := instances[a.ID]
		switch {
		case in == nil || b.gone[a.ID]:
		case a.Do == policy.Wait || a.Do == policy.End:
			wanted[a.ID] = true
			if b.follow(in, a, r, s) {
				due = append(due, start{in: *in, rule: a.Rule, reason: a.Reason})
			}
		case a.Do == policy.Refuse:
			against[a.ID] = a.Because
			b.refuse(in, a.Rule, a.Reason, a.Because, a.Because, now)
		case a.Do == policy.Notify:
			if b.told.remind(in, a, now) {
				b.record(in.Event(monitor.EventNotified, now, policy.But(a.Reason, a.Because)))
			}
			if _, known := given[a.ID]; a.GivesUp && !known {
				if given[a.ID], known = b.givenUp[a.ID]; !known {
					given[a.ID] = now
					b.record(in.Event(monitor.EventPruned, now, "from the lists: "+a.Reason))
				}
			}
		}
	}
	b.told.finish(now)
	b.givenUp = given
	for _, id := range slices.SortedFunc(maps.Keys(b.plans), byIdentity) {
		if p := b.plans[id]; !wanted[id] && !b.running[id] {
			why := against[id]
			if why == "" {
				why = dropped(p, instances[id], r, s)
			}
			b.drop(instances[id], p, why, now)
		}
	}
	return due
}

// follow plans the end of an instance, announces it when it is near, and reports
// whether it is to begin now.
func (b *book) follow(in *monitor.Instance, a policy.Action, r policy.Rules, s *monitor.Snapshot) bool {
	id, now := in.Identity, s.At
	p := b.plans[id]
	if p != nil && !b.running[id] && (p.rule != a.Rule || a.At.After(p.due) || !p.holdsOf(in)) {
		b.drop(in, p, dropped(p, in, r, s), now)
		p = nil
	}
	if p == nil {
		p = &plan{rule: a.Rule, made: now, due: a.At, notice: noticeFor(in, a, s)}
		b.plans[id] = p
	}
	p.due, p.reason, p.idle = a.At, a.Reason, in.Evidence.IdleSince
	if !p.announced() && !now.Before(p.next()) {
		p.notBefore, p.refused.Why = later(p.at(), now.Add(p.notice)), ""
		b.record(in.Event(monitor.EventShutdownPlanned, now, "in "+monitor.Span(p.notBefore.Sub(now))+": "+p.reason))
		b.told.planned(in, p, now)
	}
	return a.Do == policy.End && p.announced() && !now.Before(p.at()) && b.begin(id)
}

// begin takes note that an instance is being ended, if it can be now.
func (b *book) begin(id monitor.Identity) bool {
	if b.running[id] || len(b.running) >= mostAtOnce {
		return false
	}
	b.running[id] = true
	return true
}

// refuse tells once for each kind of reason why an instance goes on.
func (b *book) refuse(in *monitor.Instance, rule policy.Rule, reason, because, kind string, now time.Time) {
	key := refusal{in.Identity, rule, kind}
	if !b.refused[key] {
		b.refused[key] = true
		b.record(in.Event(monitor.EventPolicyRefused, now, policy.But(reason, because)))
	}
}

// again plans to try once more what has not come about. What somebody was found to use
// is left alone for longer, and who was told that it would end is told again before the
// next try.
func (b *book) again(id monitor.Identity, why string, inUse bool, now time.Time) {
	p := b.plans[id]
	if p == nil {
		return
	}
	until := now.Add(pause(p.tries))
	if inUse {
		b.told.over(id)
		until, p.notBefore = now.Add(min(firstRest<<min(p.tries, 10), lastRest)), time.Time{}
	}
	p.refused = monitor.Refused{Rule: string(p.rule), Why: why, Until: until}
	p.due = later(p.due, until)
	p.tries++
}

// drop gives up a plan. Who was told of it learns why.
func (b *book) drop(in *monitor.Instance, p *plan, why string, now time.Time) {
	delete(b.plans, in.Identity)
	b.told.over(in.Identity)
	if p.announced() {
		b.record(in.Event(monitor.EventPlanDropped, now, why))
	}
}

// ended takes note that the ladder has ended an instance.
func (b *book) ended(id monitor.Identity) {
	delete(b.plans, id)
	b.gone[id] = true
	b.told.over(id)
}

// forget leaves out what concerns instances that are gone: their end is told by
// whoever saw it.
func (b *book) forget(living map[monitor.Identity]*monitor.Instance) {
	for id := range b.plans {
		if living[id] == nil && !b.running[id] {
			delete(b.plans, id)
			b.told.over(id)
		}
	}
	maps.DeleteFunc(b.gone, func(id monitor.Identity, _ bool) bool { return living[id] == nil })
	maps.DeleteFunc(b.refused, func(key refusal, _ bool) bool { return living[key.id] == nil })
}

// next is when something is to be done about a plan, zero when there is none. What
// waits for another end to be over is woken by that.
func (b *book) next() time.Time {
	var first time.Time
	for id, p := range b.plans {
		if !b.running[id] && (len(b.running) < mostAtOnce || !p.announced()) {
			first = sooner(first, p.next())
		}
	}
	return first
}

// noticeFor is how long before the end of an instance it is announced.
func noticeFor(in *monitor.Instance, a policy.Action, s *monitor.Snapshot) time.Duration {
	since := in.Evidence.IdleSince
	if a.Rule == policy.Orphans {
		since = in.Evidence.AloneSince
	}
	if since.IsZero() {
		return noticeTime
	}
	if half := a.At.Sub(later(since, s.AwakeSince)) / 2; half > 0 {
		return min(noticeTime, half)
	}
	return noticeTime
}

// pause is how long to wait after so many tries before it.
func pause(tries int) time.Duration {
	return min(firstPause<<min(tries, 10), lastPause)
}

// dropped says why a rule does not want the end of an instance any more.
func dropped(p *plan, in *monitor.Instance, r policy.Rules, s *monitor.Snapshot) string {
	_, kept := r.KeptAt(in.Identity, s.At)
	is := &in.Evidence
	switch {
	case r.PausedAt(s.At):
		return "the policies are paused"
	case kept:
		return "it is kept"
	case in.Pinned:
		return "it is pinned"
	case in.Busy != nil && *in.Busy:
		return "it is at work"
	case r.Off[p.rule]:
		return "the rule is switched off"
	case s.AwakeSince.After(p.made):
		return "the machine slept, or its clock was set, so that the time counts anew"
	case p.rule == policy.Orphans && !(is.Orphaned && is.ClientGone):
		return "it is not proven any more that its client is gone"
	case !p.idle.Equal(is.IdleSince):
		return "it was used"
	}
	return "the rule does not apply any more"
}

func byIdentity(a, b monitor.Identity) int {
	return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start))
}

// sooner is the earlier of two times; a zero one is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
