package tray

import (
	"math"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// groups offers to stop those that the policies call orphaned and idle, as
// monitor/policy names them.
func groups(p monitor.Policy) []line {
	var list []line
	group := func(what string, n int, word string) {
		if n > 0 {
			title := "Stop " + monitor.Plural(n, word, word)
			list = append(list, line{Key: string(view.StopAll) + " " + what, Title: title, Action: action{Order: view.Order{Verb: view.StopAll, What: what}, Count: n}, Ended: title})
		}
	}
	group("orphans", p.Orphans, "orphaned")
	group("idle", p.Idle, "idle")
	return list
}

// ruleLines is the number of lines for rules. There are five.
const ruleLines = 8

// policySubmenu says how the policies stand and offers to pause and to switch
// them. It is hidden before they have been heard of.
func policySubmenu(p monitor.Policy, now time.Time) (top line, lines []line) {
	top = line{Key: "policies", Title: "Policies"}
	switch {
	case p.Paused:
		top.Title = "Policies (paused " + pauseWords(view.Value(p.PausedUntil), now) + ")"
	case !p.Active:
		top.Title = "Policies (another Lamplighter acts)"
	}
	order := func(v view.Verb, lasts pause, title string, offered bool) {
		l := line{Key: strings.TrimSpace(string(v) + " " + string(lasts)), Title: title, Action: action{Order: view.Order{Verb: v}, For: lasts}}
		if !offered || len(p.Rules) == 0 {
			l = line{}
		}
		lines = append(lines, l)
	}
	order(view.Pause, forAnHour, "Pause for 1 h", !p.Paused)
	order(view.Pause, forToday, "Pause for today", !p.Paused)
	order(view.Pause, "", "Pause until resumed", !p.Paused)
	order(view.Resume, "", "Resume", p.Paused)
	lines = append(lines, separator)
	before := len(lines)
	for _, r := range p.Rules[:min(len(p.Rules), ruleLines)] {
		title, on := monitor.CutEnd(monitor.Clean(r.Words), ruleColumns), r.On && r.Set
		lines = append(lines, line{
			Key: "rule " + r.Name, Title: title, Checkable: true, Checked: on, Disabled: !r.Set,
			Action: action{Order: view.Order{Verb: view.Switch, What: r.Name, On: !on}}, Ended: title,
		})
	}
	return top, append(padded(lines, before+ruleLines, line{Checkable: true}), idleLines(p)...)
}

// idleTimes are those that the menu offers; the settings take any.
var idleTimes = []time.Duration{0, 10 * time.Minute, 30 * time.Minute, time.Hour}

// idleLines set when idle servers end, and whether those do whose client is
// connected. All of them are hidden where there is no such rule.
func idleLines(p monitor.Policy) (lines []line) {
	if at := slices.IndexFunc(p.Rules, func(r monitor.PolicyRule) bool { return r.Name == "idle" }); at >= 0 {
		rule, times := p.Rules[at], idleTimes
		set := time.Duration(math.Round(rule.Minutes * float64(time.Minute)))
		attached := view.Value(rule.Attached)
		if !slices.Contains(times, set) {
			times = append(slices.Clone(times), set)
		}
		for _, after := range times {
			end := "end after " + monitor.Span(after)
			if after == 0 {
				end = "never end"
			}
			lines = append(lines, idleLine(end, after == set, after, attached && after > 0))
		}
		also := idleLine("also with a client connected", attached, set, !attached)
		also.Disabled = set == 0
		lines = append(lines, also)
	}
	return padded(lines, len(idleTimes)+2, line{Checkable: true})
}

func idleLine(words string, checked bool, after time.Duration, attached bool) line {
	return line{
		Key: "idle " + words, Title: "Idle servers: " + words, Checkable: true, Checked: checked,
		Action: action{Order: view.Order{Verb: view.SetIdle, After: after, On: attached}},
	}
}

// pauseWords tells how long a pause lasts.
func pauseWords(until, now time.Time) string {
	switch {
	case until.IsZero():
		return "until resumed"
	case until.Equal(dayEnd(now)):
		return "for today"
	}
	return "until " + monitor.Clock(until, now)
}

// givenWords is the memory that ended instances gave back since a time, empty
// for none.
func givenWords(bytes uint64, since, now time.Time) string {
	if bytes == 0 {
		return ""
	}
	s := memoryWords(quantise(bytes, 0)) + " given back"
	if now.Sub(since) < 8*24*time.Hour {
		return s + " this week"
	}
	return s + " since " + since.In(now.Location()).Format("2 Jan")
}

// dayEnd is when the next day begins.
func dayEnd(now time.Time) time.Time {
	year, month, day := now.Date()
	end := time.Date(year, month, day+1, 0, 0, 0, 0, now.Location())
	if end.Day() == day { // clocks are set forward at midnight
		return end.Add(time.Hour)
	}
	return end
}
