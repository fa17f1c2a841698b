package workspace

import (
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
)

// The bounds of what is decided.
const (
	// bootRest is how long after the system has started nothing is due by a stamp
	// of an earlier run: the wall clock may not have been set yet.
	bootRest = 10 * time.Minute
	// budgetRest is how long a workspace has to have been unused before it goes to
	// stay within the budget: its job may be about to begin.
	budgetRest = 10 * time.Minute
	// removedRest is how long a removed one is remembered.
	removedRest = 7 * 24 * time.Hour
)

// action is what clean-up does.
type action string

const (
	actNothing action = ""
	actRemove  action = "remove"  // all of it
	actEnd     action = "end"     // its tree; versions are never removed without being asked
	actArchive action = "archive" // into an archive
)

// facts are what is to be known of a workspace to decide about it.
type facts struct {
	ID        string
	State     State
	Kind      Kind
	Cleanup   Cleanup
	Retention time.Duration
	Used      Stamp
	Done      *Stamp
	Problem   bool  // something stood against its clean-up when it was last tried
	Waits     bool  // and it is too early to try again
	Bytes     int64 // -1: nobody knows
}

// factsOf are those of a record, with what Limits say where it says nothing.
func factsOf(r *record, o Limits) facts {
	f := facts{
		ID: r.ID, State: r.State, Kind: r.Kind, Cleanup: r.Cleanup, Retention: r.Retention,
		Used: r.Used, Done: r.Done, Problem: leftKind(r.Problem) != "", Bytes: r.SizeBytes,
	}
	if f.Used.Wall.IsZero() {
		f.Used = Stamp{Wall: r.UsedAt}
	}
	if f.Cleanup == "" {
		f.Cleanup = o.Cleanup
	}
	if f.Cleanup == "" {
		f.Cleanup = usualCleanup(f.Kind)
	}
	if f.Retention <= 0 {
		f.Retention = o.Retention
	}
	if f.Retention <= 0 {
		f.Retention = usualRetention
	}
	return f
}

// usualCleanup is that of a kind.
func usualCleanup(k Kind) Cleanup {
	if k == Persistent {
		return ByHand
	}
	return AtCompletion
}

// completed reports whether its job has ended, and nobody has used it since.
func (f facts) completed() bool { return f.Done != nil && !after(f.Used, *f.Done) }

// verdict is what is decided about a workspace.
type verdict struct {
	Action action
	In     time.Duration // until it is due, 0 when it is; nothing to say of with actNothing
	Words  string        // what happens when
}

// due reports whether it is to be done now.
func (v verdict) due() bool { return v.Action != actNothing && v.In <= 0 }

// sentence is Words with who is meant.
func (v verdict) sentence() string {
	switch {
	case strings.HasPrefix(v.Words, "its "):
		return v.Words
	case v.Action == actNothing:
		return "it " + v.Words
	}
	return "it is " + v.Words
}

// due decides what clean-up does with a workspace, and when. What stands against
// it is not its business.
func due(f facts, clock Stamp) verdict {
	switch f.State {
	case Ready:
	case Ended:
		return verdict{Words: "its versions stay until it is removed"}
	case Archived:
		return verdict{Words: "its archive stays until it is removed"}
	default:
		return verdict{}
	}
	v := verdict{Action: actRemove}
	what, rest := "removed", ""
	switch {
	case f.Cleanup == ByHand:
		return verdict{Words: "stays until it is removed"}
	case f.Cleanup == ToArchive:
		v.Action, what = actArchive, "archived"
	case f.Kind != Temp:
		v.Action, what, rest = actEnd, "its tree is removed", "; its versions stay"
	}
	unused := "when nobody has used it for " + monitor.Span(f.Retention)
	if f.Cleanup == AtCompletion && f.completed() {
		v.Words = what + " now, since its job has ended"
	} else {
		v.In = left(f.Used, f.Retention, clock)
		v.Words = what + " " + unused
		if f.Cleanup == AtCompletion {
			v.Words = what + " when its job ends, or " + unused
		}
	}
	if v.In <= 0 && f.Problem {
		v.Words = what + " as soon as nothing stands against it"
	}
	v.Words += rest
	return v
}

// left is what is left of a time since a moment. After a start of the system it
// is that of bootRest at least where only the wall clock can tell.
func left(since Stamp, of time.Duration, clock Stamp) time.Duration {
	rest := max(of-elapsed(since, clock), 0)
	if !sameBoot(since, clock) && clock.Boot != "" {
		rest = max(rest, bootRest-clock.SinceBoot)
	}
	return rest
}

// plan is when clean-up comes to a workspace, nil when it does not by itself, and
// what happens then, in words.
func plan(r *record, o Limits, clock Stamp) (at *time.Time, words string) {
	f := factsOf(r, o)
	v := due(f, clock)
	if v.Action == actNothing || v.In <= 0 && f.Problem {
		return nil, v.Words
	}
	// To the second: it is told again and again, and the clocks are not read at
	// one instant.
	moment := clock.Wall.Add(v.In).Round(time.Second).UTC()
	return &moment, v.Words
}

// overBudget are the ids of those that have to go so that the others stay within
// a budget, in the order in which they go: what was not used for the longest time
// first. Where all that may go would not be enough none of them goes; over is by how much
// what stays for good is too much. What cannot go for another reason is the caller's to find, who asks again
// with Waits in it. Those that are left to be removed by hand never go. When there
// are too few of them, again tells when there may be more of them, 0: never.
func overBudget(all []facts, budget int64, clock Stamp) (leave []string, again time.Duration, over int64) {
	if budget <= 0 {
		return nil, 0, 0
	}
	var total, stays, fixed int64 // stays: now; fixed: until somebody removes it
	var may []facts
	for _, f := range all {
		if f.State != Ready && f.State != Ended || f.Bytes <= 0 {
			continue
		}
		total += f.Bytes
		if due(f, clock).Action == actNothing {
			fixed += f.Bytes
		}
		if due(f, clock).Action == actNothing || f.Waits {
			stays += f.Bytes
			continue
		}
		switch rest := left(f.Used, budgetRest, clock); {
		case rest <= 0:
			may = append(may, f)
		case again == 0 || rest < again:
			again = rest
		}
	}
	slices.SortStableFunc(may, func(a, b facts) int {
		switch {
		case after(b.Used, a.Used):
			return -1
		case after(a.Used, b.Used):
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	switch {
	case fixed > budget:
		return nil, 0, fixed - budget
	case stays > budget:
		return nil, again, 0
	}
	for _, f := range may {
		if total <= budget {
			break
		}
		total -= f.Bytes
		leave = append(leave, f.ID)
	}
	if total <= budget {
		again = 0
	}
	return leave, again, 0
}
