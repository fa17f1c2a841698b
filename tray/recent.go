package tray

import (
	"fmt"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// recentSubmenu puts the last events in words, the newest first, for example
// "10:42 started: 4711 - alpha by Claude Code". A click opens the instance, if it
// is still there.
func recentSubmenu(snap *monitor.Snapshot, now time.Time) (top line, lines []line) {
	runs := running(snap)
	for i := range snap.Recent {
		e := &snap.Recent[i]
		when := monitor.Clock(e.At, now) + " "
		l := line{Key: fmt.Sprint("event ", e.At.UnixNano(), e.Kind, e.ID), Title: when + eventWords(e, recentColumns-len(when))}
		if runs[view.ID(e.ID)] {
			l.Action = about(view.Ref{ID: view.ID(e.ID)}, view.Open)
		}
		lines = append(lines, l)
	}
	return line{Key: "recent", Title: "Recent"}, padded(lines, recentLines, line{})
}

// eventWords says what happened, in at most columns. The detail gives way, unless
// it says why an order was not followed, which comes before the whole label.
func eventWords(e *monitor.Event, columns int) string {
	text := view.Text(e)
	if view.Failed(e.Kind) {
		head := text.What + ": "
		room := columns - monitor.Columns(head)
		label := max(min(room-monitor.Columns(text.Detail), eventColumns), refusedColumns)
		return head + monitor.CutEnd(monitor.Shorten(text.About, label)+text.Detail, room)
	}
	s := text.What
	if text.About != "" { // the policies have none
		s += ": " + monitor.Shorten(text.About, eventColumns)
	}
	if room, whole := columns-monitor.Columns(s), monitor.Columns(text.Detail); whole <= room || room >= detailColumns {
		s += monitor.Shorten(text.Detail, room)
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

// orders are those to stop an instance, as the last event about each tells.
type orders struct {
	ending  map[view.ID]bool // the instance is being stopped
	refused *monitor.Event   // the last one that was not followed, nil for none
}

func ordersIn(snap *monitor.Snapshot, now time.Time) orders {
	o := orders{ending: map[view.ID]bool{}}
	for i := range snap.Recent {
		e := &snap.Recent[i]
		limit, about := told[e.Kind]
		if _, later := o.ending[view.ID(e.ID)]; !about || later {
			continue
		}
		isTold := limit > 0 && now.Sub(e.At) < limit
		o.ending[view.ID(e.ID)] = isTold && !view.Failed(e.Kind)
		if isTold && view.Failed(e.Kind) && o.refused == nil {
			o.refused = e
		}
	}
	return o
}

// told is how long an event about an order to stop, or its end, is to be told beside
// the list of events.
var told = map[monitor.EventKind]time.Duration{
	monitor.EventStopOrdered: endingTold, monitor.EventAsked: endingTold, monitor.EventTerminated: endingTold, monitor.EventForceKilled: endingTold,
	monitor.EventStopRefused: refusedTold, monitor.EventStopFailed: refusedTold,
	monitor.EventEnded: 0, monitor.EventStopped: 0,
}

// refusedWords are lines of their own, for the person who gave the order, looks
// at the menu again and must not wonder: what was not done and why, and what to
// do about it, if anything. Nothing can be forced from the menu.
func refusedWords(e *monitor.Event) []string {
	lines := []string{strings.TrimSuffix(monitor.Sentence(eventWords(e, warningColumns)), ".")}
	if instead := view.Text(e).Instead; instead != "" {
		lines = append(lines, monitor.CutEnd(instead, warningColumns))
	}
	return lines
}
