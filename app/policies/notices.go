package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// The bounds of what the user is told.
const (
	hour = time.Hour // at most one notice per subject in that time
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

var sorts = []sort{willEnd, hasEnded, notEnded, decide}

// item is one thing to tell.
type item struct {
	subject string
	id      monitor.Identity
	label   string
	reason  string
	ground  ground    // with willEnd and decide
	at      time.Time // with willEnd
	freed   uint64    // bytes, with hasEnded
}

// notices keeps what is to be told until it is, and what was told. Make one with
// newNotices.
type notices struct {
	held  map[sort][]item
	flush map[sort]time.Time   // when what is held is told
	last  map[string]time.Time // when a subject was told of
	holds map[string]bool      // subjects of decide that were told of and still hold
	now   map[string]bool      // those of the present look
	open  map[string]open      // what is shown, and is to be withdrawn when it is not true any more
	gone  []string             // subjects of open to be withdrawn
}

// open is a notice that is shown, with what of it is still true.
type open struct {
	sort  sort
	items []item
}

func newNotices() notices {
	return notices{
		held: map[sort][]item{}, flush: map[sort]time.Time{}, last: map[string]time.Time{},
		holds: map[string]bool{}, open: map[string]open{},
	}
}

// add holds something to be told by then, unless its subject was told of within
// the hour.
func (n *notices) add(what sort, i item, by, now time.Time) bool {
	if last, told := n.last[i.subject]; told && now.Sub(last) < hour {
		return false
	}
	n.last[i.subject] = now
	n.held[what] = append(n.held[what], i)
	n.flush[what] = sooner(n.flush[what], by)
	return true
}

func subject(what sort, id monitor.Identity, more ...string) string {
	return strings.Join(append([]string{string(what), id.String()}, more...), " ")
}

// planned announces an end.
func (n *notices) planned(in *monitor.Instance, p *plan, now time.Time) {
	n.add(willEnd, item{
		subject: subject(willEnd, in.Identity), id: in.Identity, label: in.Label(), reason: p.reason, at: p.at(),
		ground: ground{p.rule, in.Evidence.IdleSince},
	}, now.Add(min(gather, p.notice/4)), now)
}

// ended tells of an end.
func (n *notices) ended(id monitor.Identity, label, reason string, freed uint64, now time.Time) {
	n.add(hasEnded, item{subject: subject(hasEnded, id), id: id, label: label, reason: reason, freed: freed}, now.Add(gatherMax), now)
}

// failed tells that it did not come to an end. Who asked for it is told each time.
func (n *notices) failed(id monitor.Identity, label, detail string, asked bool, now time.Time) {
	i := item{subject: subject(notEnded, id), id: id, label: label, reason: detail}
	if asked {
		delete(n.last, i.subject)
	}
	n.add(notEnded, i, now, now)
}

// begin begins a look, in which remind is called for everything that holds.
func (n *notices) begin() { n.now = map[string]bool{} }

// remind asks the user to decide: once for as long as the same holds.
func (n *notices) remind(in *monitor.Instance, a policy.Action, now time.Time) bool {
	s := subject(decide, in.Identity, string(a.Rule), a.Reason)
	n.now[s] = true
	i := item{
		subject: s, id: in.Identity, label: in.Label(), reason: but(a.Reason, a.Because),
		ground: ground{a.Rule, in.Evidence.IdleSince},
	}
	if n.holds[s] || !n.add(decide, i, now.Add(gather), now) {
		return false
	}
	n.holds[s] = true
	return true
}

// finish ends a look: what does not hold any more is not told or is taken back,
// and may be told of again.
func (n *notices) finish(now time.Time) {
	untrue := func(i item) bool { return !n.now[i.subject] }
	n.leaveOut(decide, untrue)
	n.takeBack(decide, untrue)
	maps.DeleteFunc(n.holds, func(s string, _ bool) bool { return !n.now[s] })
	maps.DeleteFunc(n.last, func(s string, at time.Time) bool { return now.Sub(at) >= hour && !n.holds[s] })
}

// over takes back what was said about the end of an instance.
func (n *notices) over(id monitor.Identity) {
	its := func(i item) bool { return i.id == id }
	n.leaveOut(willEnd, its)
	n.takeBack(willEnd, its)
}

// takeBack withdraws what is shown when none of it is true any more.
func (n *notices) takeBack(what sort, untrue func(item) bool) {
	for s, o := range n.open {
		if o.sort != what {
			continue
		}
		if o.items = slices.DeleteFunc(o.items, untrue); len(o.items) > 0 {
			n.open[s] = o
			continue
		}
		delete(n.open, s)
		n.gone = append(n.gone, s)
	}
}

// anew lets the end of an instance be told of again, although the hour is not
// over: who was told that it goes on has to hear of the next plan.
func (n *notices) anew(id monitor.Identity) { delete(n.last, subject(willEnd, id)) }

// silence forgets what is held: nothing is told while the policies are paused.
func (n *notices) silence() {
	for _, what := range sorts {
		n.leaveOut(what, func(item) bool { return true })
	}
	clear(n.flush)
}

// leaveOut forgets some of what is held: nobody was told of it.
func (n *notices) leaveOut(what sort, some func(item) bool) {
	n.held[what] = slices.DeleteFunc(n.held[what], func(i item) bool {
		if !some(i) {
			return false
		}
		delete(n.last, i.subject)
		delete(n.holds, i.subject)
		return true
	})
}

// next is when something is to be told, zero when nothing is held.
func (n *notices) next() time.Time {
	var first time.Time
	for _, at := range n.flush {
		first = sooner(first, at)
	}
	return first
}

// take returns what is to be told by now, and the subjects that are not true any
// more. Calm says that nothing is being ended, so that what has ended need not
// wait for more.
func (n *notices) take(now time.Time, calm bool) (tell []Notice, withdraw []string) {
	withdraw, n.gone = n.gone, nil
	slices.Sort(withdraw)
	for _, what := range sorts {
		at, held := n.flush[what]
		if !held || now.Before(at) && !(calm && what == hasEnded) {
			continue
		}
		items := n.held[what]
		delete(n.held, what)
		delete(n.flush, what)
		if len(items) > mostAlone {
			tell = append(tell, n.show(what, items, group(what, items, now)))
			continue
		}
		for _, i := range items {
			tell = append(tell, n.show(what, []item{i}, single(what, i, now)))
		}
	}
	return tell, withdraw
}

// show keeps in mind what a notice rests on, as long as that is to hold.
func (n *notices) show(what sort, items []item, t Notice) Notice {
	if what == willEnd || what == decide {
		n.open[t.Subject] = open{what, items}
		t.grounds = make(map[monitor.Identity][]ground, len(items))
		for _, i := range items {
			t.grounds[i.id] = append(t.grounds[i.id], i.ground)
		}
	}
	return t
}

// single is the notice about one thing.
func single(what sort, i item, now time.Time) Notice {
	t := Notice{Subject: i.subject, IDs: []monitor.Identity{i.id}, Body: monitor.Sentence(i.reason)}
	switch what {
	case willEnd:
		t.Summary, t.Keep, t.Stop = i.label+" will shut down in "+monitor.Span(i.at.Sub(now)), true, true
	case hasEnded:
		t.Summary = "Ended: " + i.label
		t.Body = strings.TrimSpace(t.Body + " " + monitor.Memory(i.freed) + " given back.")
	case notEnded:
		t.Summary = "Not ended: " + i.label
	case decide:
		t.Summary, t.Keep, t.Stop = i.label+" may not be needed", true, true
	}
	return t
}

// byServer joins what is told of the same server, about which several rules may
// have something to say.
func byServer(items []item) []item {
	var servers []item
	for _, i := range items {
		at := slices.IndexFunc(servers, func(s item) bool { return s.id == i.id })
		if at < 0 {
			servers = append(servers, i)
		} else {
			servers[at].reason += "; " + i.reason
		}
	}
	return servers
}

// group is one notice about many things, which counts and lists servers.
func group(what sort, items []item, now time.Time) Notice {
	t := Notice{Subject: string(what) + " with " + items[0].id.String()}
	var lines []string
	var freed uint64
	first := items[0].at
	for k, i := range byServer(items) {
		t.IDs = append(t.IDs, i.id)
		freed += i.freed
		first = sooner(first, i.at)
		if k < mostLines {
			lines = append(lines, strings.TrimSuffix(i.label+": "+i.reason, ": ")) // the user's own order has no reason
		}
	}
	if more := len(t.IDs) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	t.Body = strings.Join(lines, "\n")
	servers := monitor.Plural(len(t.IDs), "server", "servers")
	switch what {
	case willEnd:
		t.Summary, t.Keep, t.Stop = servers+" will shut down, the first in "+monitor.Span(first.Sub(now)), true, true
	case hasEnded:
		t.Summary = servers + " ended, " + monitor.Memory(freed) + " given back"
	case notEnded:
		t.Summary = servers + " were not ended"
	case decide:
		t.Summary, t.Keep, t.Stop = servers+" may not be needed", true, true
	}
	return t
}
