package tray

import (
	"slices"
	"time"

	"lamplighter/monitor"
)

// Policies carries out what the menu orders about the policies. Its calls come as
// those of Actions do, and what came of them is read from the snapshots that
// follow.
type Policies interface {
	StopAll(what string)         // "idle" or "orphans", as monitor/policy names them
	Keep(id string)              // for an hour
	Pin(id string, pinned bool)  // until it is unpinned, or no longer
	Pause(until time.Time)       // zero: until Resume
	Resume()                     // what was paused
	Switch(rule string, on bool) // a rule of the snapshot, by its name
}

// What the menu offers to stop at once, as monitor/policy names it.
const (
	whatOrphans = "orphans"
	whatIdle    = "idle"
)

// shortPause is the shortest pause that is offered.
const shortPause = time.Hour

// stopGroup is an order to stop all instances of a kind.
type stopGroup struct {
	What  string
	Title string // "Stop 2 idle"
	Ended bool   // none is left, and its line only waits for the menu to close
}

// groups offers to stop those that the policies call orphaned and idle.
func groups(p monitor.Policy) []stopGroup {
	var list []stopGroup
	if p.Orphans > 0 {
		list = append(list, stopGroup{What: whatOrphans, Title: "Stop " + monitor.Plural(p.Orphans, "orphaned", "orphaned")})
	}
	if p.Idle > 0 {
		list = append(list, stopGroup{What: whatIdle, Title: "Stop " + monitor.Plural(p.Idle, "idle", "idle")})
	}
	return list
}

// policyMenu is the submenu of the policies.
type policyMenu struct {
	Title  string // of the submenu, with how they stand; empty when they are not offered
	Paused bool   // it offers to resume them
	Rules  []ruleLine
}

// ruleLine is a rule with its switch.
type ruleLine struct {
	Name  string // as monitor.PolicyRule has it
	Title string
	On    bool
	Set   bool // it can be switched
}

// ruleLines is the number of lines for rules. There are five.
const ruleLines = 8

// policyLines is empty before the policies have been heard of.
func policyLines(p monitor.Policy, now time.Time) policyMenu {
	if len(p.Rules) == 0 {
		return policyMenu{}
	}
	lines := policyMenu{Title: "Policies", Paused: p.Paused}
	switch {
	case p.Paused:
		lines.Title = "Policies (paused " + pauseWords(p.PausedUntil, now) + ")"
	case !p.Active:
		lines.Title = "Policies (another Lamplighter acts)"
	}
	for _, r := range p.Rules[:min(len(p.Rules), ruleLines)] {
		lines.Rules = append(lines.Rules, ruleLine{
			Name: r.Name, Title: cutEnd(monitor.Clean(r.Words), ruleColumns), On: r.On && r.Set, Set: r.Set,
		})
	}
	return lines
}

// pauseWords tells how long a pause lasts.
func pauseWords(until, now time.Time) string {
	switch {
	case until.IsZero():
		return "until resumed"
	case until.Equal(dayEnd(now)):
		return "for today"
	}
	return "until " + clock(until, now)
}

// nextPause is the time until pauseWords will say something else, 0 for never.
func nextPause(p monitor.Policy, now time.Time) time.Duration {
	if len(p.Rules) == 0 || !p.Paused || p.PausedUntil.IsZero() {
		return 0
	}
	return nextClock(p.PausedUntil, now)
}

// givenWords is the memory that ended instances gave back since a time, empty
// for none.
func givenWords(bytes uint64, since, now time.Time) string {
	if bytes == 0 {
		return ""
	}
	s := memoryWords(quantise(bytes, 0)) + " given back"
	switch {
	case since.IsZero():
		return s
	case now.Sub(since) < 8*24*time.Hour:
		return s + " this week"
	}
	return s + " since " + since.In(now.Location()).Format("2 Jan")
}

// groupsInPlace renews the groups that are shown.
func groupsInPlace(shown, next []stopGroup) []stopGroup {
	held := slices.Clone(shown)
	for i := range held {
		held[i].Ended = true
		for _, g := range next {
			if g.What == held[i].What {
				held[i] = g
			}
		}
	}
	return held
}

// inPlace renews the lines that are shown. Whether they offer to pause or to
// resume waits for the menu to close.
func (l policyMenu) inPlace(next policyMenu) policyMenu {
	held := policyMenu{Title: inPlace(l.Title, next.Title), Paused: l.Paused, Rules: slices.Clone(l.Rules)}
	for i := range held.Rules {
		held.Rules[i].Set = false // unless it is still there
		for _, r := range next.Rules {
			if r.Name == held.Rules[i].Name {
				held.Rules[i] = r
			}
		}
	}
	return held
}

// sameLines tells whether both have the same lines in the same places.
func (l policyMenu) sameLines(other policyMenu) bool {
	return (l.Title == "") == (other.Title == "") && l.Paused == other.Paused &&
		slices.EqualFunc(l.Rules, other.Rules, func(a, b ruleLine) bool { return a.Name == b.Name })
}
