package tray

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lamplighter/monitor"
)

// recentSubmenu puts the last events in words, the newest first, for example
// "10:42 started: 4711 - alpha by Claude Code". A click opens the instance, if it
// is still there.
func recentSubmenu(snap *monitor.Snapshot, now time.Time) (top line, lines []line) {
	runs := running(snap)
	for i := range recentOf(snap) {
		e := &snap.Recent[i]
		when := monitor.Clock(e.At, now) + " "
		l := line{Key: fmt.Sprint("event ", e.At.UnixNano(), e.Kind, e.ID), Title: when + eventWords(e, recentColumns-len(when))}
		if runs[e.ID] {
			l.Action = action{Verb: openDashboard, ID: e.ID}
		}
		lines = append(lines, l)
	}
	return line{Key: "recent", Title: "Recent"}, padded(lines, recentLines, line{})
}

func recentOf(snap *monitor.Snapshot) []monitor.Event {
	return snap.Recent[:min(len(snap.Recent), recentLines)]
}

// eventWords says what happened, in at most columns. The detail gives way,
// unless it says why an order was not followed.
func eventWords(e *monitor.Event, columns int) string {
	if failed(e.Kind) {
		return failureWords(e, columns)
	}
	s := monitor.Clean(e.Kind.Words())
	if label := monitor.Clean(e.Label); label != "" { // the policies have none
		s += ": " + monitor.Shorten(label, eventColumns)
	}
	detail, join := monitor.Clean(e.Detail), " · "
	if e.Kind == monitor.EventZombieDetected {
		detail, _, _ = strings.Cut(detail, ": ") // its cause is enough beside the others
	}
	if strings.HasPrefix(detail, "by ") {
		join = " "
	}
	if room := columns - monitor.Columns(s+join); detail != "" && (room >= detailColumns || room >= monitor.Columns(detail)) {
		s += join + monitor.Shorten(detail, room)
	}
	return s
}

// How long the menu says that an order to stop is being followed, and that one
// was not. The first is longer than following one takes: a last event that was
// lost must not stand for ever.
const (
	endingTold  = 2 * time.Minute
	refusedTold = 10 * time.Minute
)

// orders holds what is to be said about the orders to stop an instance: the
// last event about them, by instance.
type orders map[string]*monitor.Event

func ordersIn(snap *monitor.Snapshot, now time.Time) orders {
	last := orders{}
	for i := range recentOf(snap) {
		e := &snap.Recent[i]
		limit, about := told(e.Kind)
		if _, later := last[e.ID]; !about || later {
			continue
		}
		last[e.ID] = nil
		if limit > 0 && now.Sub(e.At) < limit {
			last[e.ID] = e
		}
	}
	return last
}

// told is how long an event is to be told beside the list of events, and
// whether it is about an order to stop, or its end.
func told(k monitor.EventKind) (limit time.Duration, about bool) {
	switch k {
	case monitor.EventStopOrdered, monitor.EventAsked, monitor.EventTerminated, monitor.EventForceKilled:
		return endingTold, true
	case monitor.EventStopRefused, monitor.EventStopFailed:
		return refusedTold, true
	case monitor.EventEnded, monitor.EventStopped:
		return 0, true
	}
	return 0, false
}

// ending tells whether an instance is being stopped.
func (o orders) ending(id string) bool {
	e := o[id]
	return e != nil && !failed(e.Kind)
}

func failed(k monitor.EventKind) bool {
	return k == monitor.EventStopRefused || k == monitor.EventStopFailed
}

// refused is the last order that was not followed, nil for none.
func (o orders) refused(snap *monitor.Snapshot) *monitor.Event {
	for i := range recentOf(snap) {
		if e := &snap.Recent[i]; o[e.ID] == e && failed(e.Kind) {
			return e
		}
	}
	return nil
}

// failureWords says that an order was not followed and why, which comes before
// the whole label: "not ended: 4711 - alpha is in use by node (4711)".
func failureWords(e *monitor.Event, columns int) string {
	head := e.Kind.Words() + ": "
	why, _ := reasonWords(e)
	room := columns - monitor.Columns(head)
	label := max(min(room-monitor.Columns(why), eventColumns), refusedColumns)
	return head + cutEnd(monitor.Shorten(monitor.Clean(e.Label), label)+why, room)
}

// reasonWords takes the detail of an order that was not followed apart: why, as
// it stands behind the label, and what to do instead. The first part of it is
// enough for a line; events and the command line have it all.
func reasonWords(e *monitor.Event) (why, instead string) {
	detail := strings.TrimPrefix(monitor.Clean(e.Detail), monitor.Clean(e.Label)+": ")
	why, instead, _ = strings.Cut(strings.TrimSuffix(detail, "."), ". ")
	for _, more := range []string{"; ", ", which "} {
		why, _, _ = strings.Cut(why, more)
	}
	if rest, ok := strings.CutPrefix(why, "it "); ok {
		return " " + rest, instead
	}
	if why != "" {
		why = " · " + why
	}
	return why, instead
}

// refusedWords are lines of their own, for the person who gave the order, looks
// at the menu again and must not wonder: what was not done and why, and what to
// do about it, if anything. Nothing can be forced from the menu.
func refusedWords(e *monitor.Event) []string {
	s := failureWords(e, warningColumns)
	first, size := utf8.DecodeRuneInString(s)
	lines := []string{string(unicode.ToUpper(first)) + s[size:]}
	switch _, instead := reasonWords(e); {
	case strings.Contains(strings.ToLower(instead), "force it"):
		lines = append(lines, fmt.Sprintf("To end it anyway: lamplighter stop --force %d", e.PID))
	case instead != "":
		lines = append(lines, cutEnd(instead, warningColumns))
	}
	return lines
}
