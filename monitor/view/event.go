package view

import (
	"fmt"
	"strings"

	"lamplighter/monitor"
)

// eventWords name what happened, where the name of its kind does not.
var eventWords = map[monitor.EventKind]string{
	monitor.EventZombieDetected:           "needs attention",
	monitor.EventStopRefused:              "not ended",
	monitor.EventAsked:                    "asked to end",
	monitor.EventForceKilled:              "force-killed",
	monitor.EventShutdownPlanned:          "will shut down",
	monitor.EventPlanDropped:              "goes on",
	monitor.EventWorkspace + "tree_ended": "tree removed",
	monitor.EventPolicyRefused:            "left alone",
}

// EventWords names what happened.
func EventWords(k monitor.EventKind) string {
	if words, known := eventWords[k]; known {
		return words
	}
	return monitor.Clean(strings.ReplaceAll(string(k), "_", " "))
}

// eventMark is the state that an event leads to; "" for none.
func eventMark(k monitor.EventKind) string {
	switch k {
	case monitor.EventStarted, monitor.EventWoken:
		return string(monitor.StateStarting)
	case monitor.EventProjectActivated, monitor.EventHeartbeatRestored:
		return string(monitor.StateProject)
	case monitor.EventZombieDetected, monitor.EventStopFailed:
		return string(monitor.StateZombie)
	case monitor.EventStopped, monitor.EventEnded, monitor.EventForceKilled, monitor.EventForgotten, monitor.EventPruned:
		return "ended"
	case monitor.EventParked:
		return string(monitor.StateParked)
	}
	return ""
}

// steps reports of each event whether it is a step of an order to end a server, or the
// same told once more: a later one of the list says what came of it. A list of what
// happened leaves it out. The newest comes last.
func steps(list []monitor.Event) []bool {
	steps := make([]bool, len(list))
	told, ended, parked := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range list {
		ended[list[i].ID] = ended[list[i].ID] || list[i].Kind == monitor.EventEnded
	}
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		order := e.ID + " " + e.Order
		switch e.Kind {
		case monitor.EventStopOrdered, monitor.EventAsked, monitor.EventTerminated:
			steps[i] = told[order]
		case monitor.EventEnded:
			steps[i] = parked[e.ID]
		case monitor.EventStopped:
			steps[i] = ended[e.ID] || parked[e.ID]
		}
		told[order] = told[order] || e.Order != ""
		parked[e.ID] = parked[e.ID] || e.Kind == monitor.EventParked
	}
	return steps
}

// Failed reports whether an event is an order to stop that was not carried out.
func Failed(k monitor.EventKind) bool {
	return k == monitor.EventStopRefused || k == monitor.EventStopFailed
}

// Event is something that happened, and what faces say of it in a list.
type Event struct {
	monitor.Event
	Words struct { // their text may change in any release
		What   string `json:"what"`   // "needs attention"
		Detail string `json:"detail"` // what else there is to say
		Mark   string `json:"mark"`   // the state that it leads to, or "ended"; "" for none
		Look   bool   `json:"look"`   // somebody should look
		Step   bool   `json:"step"`   // see steps: a list leaves it out
	} `json:"words"`
}

// Events puts a list in words. The newest comes last.
func Events(list []monitor.Event) []Event {
	all, steps := make([]Event, len(list)), steps(list)
	for i, e := range list {
		all[i].Event = e
		w := &all[i].Words
		w.What, w.Detail, w.Mark, w.Step = EventWords(e.Kind), e.Detail, eventMark(e.Kind), steps[i]
		w.Look = Failed(e.Kind) || e.Kind == monitor.EventZombieDetected || e.Kind == monitor.EventForceKilled
		if e.Kind == monitor.EventFound && strings.HasPrefix(e.Detail, "by ") { // nobody saw it begin
			w.Detail = "started " + e.Detail
		}
	}
	return all
}

// Sentence is an event in words, of which a face shortens each part. All of them
// are safe to show.
type Sentence struct {
	What   string // "started"
	About  string // the label of a server, "" for none
	Detail string // as it follows the label: " by Claude Code", " · ran 2 h", " is in use by node (4711)"
	// Instead is what to do about an order that was not carried out, a sentence
	// without its full stop; "" for nothing.
	Instead string
}

// Text puts an event in words. Of one that was not carried out the first part of
// the reason is enough; events and the command line have it all.
func Text(e *monitor.Event) Sentence {
	s := Sentence{What: EventWords(e.Kind), About: monitor.Clean(e.Label)}
	detail, join := monitor.Clean(e.Detail), " · "
	switch {
	case Failed(e.Kind):
		detail, s.Instead, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(detail, s.About+": "), "."), ". ")
		if strings.Contains(strings.ToLower(s.Instead), "force it") { // which no menu can
			s.Instead = fmt.Sprintf("To end it anyway: lamplighter stop --force %d", e.PID)
		}
		for _, more := range []string{"; ", ", which "} {
			detail, _, _ = strings.Cut(detail, more)
		}
		if rest, ok := strings.CutPrefix(detail, "it "); ok {
			detail, join = rest, " "
		}
	case e.Kind == monitor.EventZombieDetected:
		detail, _, _ = strings.Cut(detail, ": ") // the cause is enough beside the others
		if monitor.Cause(detail).OfHealth() {
			detail = causeWords(monitor.Cause(detail))
		}
	case e.Kind == monitor.EventHeartbeatRestored && monitor.Cause(strings.TrimPrefix(detail, "was ")).OfHealth():
		s.What, detail = "well again", "was: "+causeWords(monitor.Cause(strings.TrimPrefix(detail, "was ")))
	case strings.HasPrefix(detail, "by "):
		join = " "
	}
	if detail != "" {
		s.Detail = join + detail
	}
	return s
}
