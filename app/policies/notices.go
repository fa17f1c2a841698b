package policies

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// The bounds of what the user is told.
const (
	hour = time.Hour // at most one notice per subject in that time, but for each planned end and each order
	// Notices wait for others, so that many become one: who closes a window with
	// ten servers has ten orphans within seconds.
	gather    = 5 * time.Second
	gatherMax = time.Minute // while instances are being ended
	mostAlone = 3           // more at once become one notice
	mostLines = 8           // of such a notice
)

// sort is what kind of thing is told.
type sort string

const (
	willEnd  sort = "planned"
	hasEnded sort = "ended"
	notEnded sort = "failed"
	decide   sort = "decide"
)

// item is one thing to tell, or one that was told within the hour or is still shown.
type item struct {
	sort    sort
	subject string
	id      monitor.Identity
	label   string
	reason  string
	ground  ground    // with willEnd and decide
	at      time.Time // with willEnd
	freed   uint64    // bytes, with hasEnded

	noted time.Time // when it was found that it is to be told
	by    time.Time // when it is told; zero: it was
	shown string    // the subject of the notice that says so until it is withdrawn, "" for none
	// With decide: it is true by the present look, and was by each one since it was noted.
	isTrue, holds bool
}

// notices keeps what is to be told until it is, and what was told. The zero value works.
type notices struct {
	items []*item  // in the order in which they were noted
	gone  []string // subjects of notices to be withdrawn
}

// add holds something to be told by then, unless its subject was told of within
// the hour and it is not always to be told.
func (n *notices) add(i item, by, now time.Time, always bool) bool {
	if old := n.about(i.subject); old != nil && !always && now.Sub(old.noted) < hour {
		return false
	}
	n.remove(func(old *item) bool { return old.subject == i.subject })
	i.by, i.noted = by, now
	n.items = append(n.items, &i)
	return true
}

// about is what was noted of a subject, nil for nothing.
func (n *notices) about(subject string) *item {
	for _, i := range n.items {
		if i.subject == subject {
			return i
		}
	}
	return nil
}

func (n *notices) remove(some func(*item) bool) { n.items = slices.DeleteFunc(n.items, some) }

func subject(what sort, id monitor.Identity, more ...string) string {
	return strings.Join(append([]string{string(what), id.String()}, more...), " ")
}

// planned announces an end. Who was told within the hour that it goes on has to hear of
// the next plan.
func (n *notices) planned(in *monitor.Instance, p *plan, now time.Time) {
	n.add(item{
		sort: willEnd, subject: subject(willEnd, in.Identity), id: in.Identity, label: in.Label(), reason: p.reason, at: p.at(),
		ground: ground{p.rule, in.Evidence.IdleSince},
	}, now.Add(min(gather, p.notice/4)), now, true)
}

// ended tells of an end.
func (n *notices) ended(id monitor.Identity, label, reason string, freed uint64, now time.Time) {
	n.add(item{sort: hasEnded, subject: subject(hasEnded, id), id: id, label: label, reason: reason, freed: freed}, now.Add(gatherMax), now, false)
}

// failed tells that it did not come to an end. Who asked for it is told each time.
func (n *notices) failed(id monitor.Identity, label, detail string, asked bool, now time.Time) {
	n.add(item{sort: notEnded, subject: subject(notEnded, id), id: id, label: label, reason: detail}, now, now, asked)
}

// begin begins a look, in which remind is called for everything that holds.
func (n *notices) begin() {
	for _, i := range n.items {
		i.isTrue = false
	}
}

// remind asks the user to decide: once for as long as the same holds.
func (n *notices) remind(in *monitor.Instance, a policy.Action, now time.Time) bool {
	s := subject(decide, in.Identity, string(a.Rule), a.Reason)
	if old := n.about(s); old != nil {
		if old.isTrue = true; old.holds {
			return false
		}
	}
	return n.add(item{
		sort: decide, subject: s, id: in.Identity, label: in.Label(), reason: policy.But(a.Reason, a.Because),
		ground: ground{a.Rule, in.Evidence.IdleSince}, isTrue: true, holds: true,
	}, now.Add(gather), now, false)
}

// finish ends a look: what does not hold any more is not told or is taken back,
// and may be told of again.
func (n *notices) finish(now time.Time) {
	n.takeBack(func(i *item) bool { return i.sort == decide && !i.isTrue })
	n.remove(func(i *item) bool {
		i.holds = i.holds && i.isTrue
		return i.by.IsZero() && i.shown == "" && !i.holds && now.Sub(i.noted) >= hour
	})
}

// over takes back what was said about the end of an instance.
func (n *notices) over(id monitor.Identity) {
	n.takeBack(func(i *item) bool { return i.sort == willEnd && i.id == id })
}

// takeBack forgets what was not told yet, and withdraws what is shown when none of it
// is true any more.
func (n *notices) takeBack(untrue func(*item) bool) {
	n.remove(func(i *item) bool { return !i.by.IsZero() && untrue(i) })
	for _, i := range n.items {
		if s := i.shown; s != "" && untrue(i) {
			i.shown = ""
			if !slices.ContainsFunc(n.items, func(other *item) bool { return other.shown == s }) {
				n.gone = append(n.gone, s)
			}
		}
	}
}

// silence forgets what is held: nothing is told while the policies are paused.
func (n *notices) silence() { n.remove(func(i *item) bool { return !i.by.IsZero() }) }

// next is when something is to be told, zero when nothing is held.
func (n *notices) next() time.Time {
	var first time.Time
	for _, i := range n.items {
		first = sooner(first, i.by)
	}
	return first
}

// take returns what is to be told by now, and the subjects that are not true any
// more. Calm says that nothing is being ended, so that what has ended need not
// wait for more.
func (n *notices) take(now time.Time, calm bool) (tell []Notice, withdraw []string) {
	withdraw, n.gone = n.gone, nil
	slices.Sort(withdraw)
	for _, what := range []sort{willEnd, hasEnded, notEnded, decide} {
		var held []*item
		due := calm && what == hasEnded
		for _, i := range n.items {
			if i.sort == what && !i.by.IsZero() {
				held = append(held, i)
				due = due || !now.Before(i.by)
			}
		}
		switch {
		case !due:
		case len(held) > mostAlone:
			tell = append(tell, show(group(what, held, now), held))
		default:
			for _, i := range held {
				tell = append(tell, show(single(i, now), []*item{i}))
			}
		}
	}
	return tell, withdraw
}

// show takes note that a notice is shown, and what it rests on as long as that is to
// hold. That one has the user decide.
func show(t Notice, items []*item) Notice {
	if t.Asks = items[0].sort == willEnd || items[0].sort == decide; t.Asks {
		t.grounds = make(map[monitor.Identity][]ground, len(items))
	}
	for _, i := range items {
		if i.by = (time.Time{}); t.Asks {
			i.shown = t.Subject
			t.grounds[i.id] = append(t.grounds[i.id], i.ground)
		}
	}
	return t
}

// single is the notice about one thing.
func single(i *item, now time.Time) Notice {
	t := Notice{Subject: i.subject, IDs: []monitor.Identity{i.id}, Body: monitor.Sentence(i.reason)}
	switch i.sort {
	case willEnd:
		t.Summary = i.label + " will shut down in " + monitor.Span(i.at.Sub(now))
	case hasEnded:
		t.Summary = "Ended: " + i.label
		t.Body = strings.TrimSpace(t.Body + " " + monitor.Memory(i.freed) + " given back.")
	case notEnded:
		t.Summary = "Not ended: " + i.label
	case decide:
		t.Summary = i.label + " may not be needed"
	}
	return t
}

// group is one notice about many things, which counts and lists servers: about one of
// them several rules may have something to say.
func group(what sort, items []*item, now time.Time) Notice {
	t := Notice{Subject: string(what) + " with " + items[0].id.String()}
	var lines []string
	var freed uint64
	first := items[0].at
	for _, i := range items {
		freed += i.freed
		first = sooner(first, i.at)
		if at := slices.Index(t.IDs, i.id); at >= 0 {
			lines[at] += "; " + i.reason
			continue
		}
		t.IDs = append(t.IDs, i.id)
		lines = append(lines, strings.TrimSuffix(i.label+": "+i.reason, ": ")) // the user's own order has no reason
	}
	if more := len(lines) - mostLines; more > 0 {
		lines = append(lines[:mostLines], fmt.Sprintf("and %d more", more))
	}
	t.Body = strings.Join(lines, "\n")
	servers := monitor.Plural(len(t.IDs), "server", "servers")
	switch what {
	case willEnd:
		t.Summary = servers + " will shut down, the first in " + monitor.Span(first.Sub(now))
	case hasEnded:
		t.Summary = servers + " ended, " + monitor.Memory(freed) + " given back"
	case notEnded:
		t.Summary = servers + " were not ended"
	case decide:
		t.Summary = servers + " may not be needed"
	}
	return t
}
