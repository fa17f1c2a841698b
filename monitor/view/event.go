package view

import (
	"fmt"
	"strings"

	"lamplighter/monitor"
)

// EventWords names what happened.
func EventWords(k monitor.EventKind) string {
	switch k {
	case monitor.EventProjectActivated:
		return "project activated"
	case monitor.EventZombieDetected:
		return "needs attention"
	case monitor.EventHeartbeatRestored:
		return "heartbeat restored"
	case monitor.EventLanguageServer:
		return "language server restarted"
	case monitor.EventStopOrdered:
		return "stop ordered"
	case monitor.EventStopRefused:
		return "not ended"
	case monitor.EventAsked:
		return "asked to end"
	case monitor.EventForceKilled:
		return "force-killed"
	case monitor.EventStopFailed:
		return "stop failed"
	case monitor.EventShutdownPlanned:
		return "will shut down"
	case monitor.EventPlanDropped:
		return "goes on"
	case monitor.EventWorkspaceTreeEnded:
		return "tree removed"
	case monitor.EventWorkspaceLeft:
		return "workspace left"
	case monitor.EventWorkspaceCreated, monitor.EventWorkspaceKept, monitor.EventWorkspaceCompleted, monitor.EventWorkspaceArchived, monitor.EventWorkspaceRestored, monitor.EventWorkspaceRemoved:
		return strings.Replace(string(k), "_", " ", 1)
	case monitor.EventPolicyRefused:
		return "left alone"
	case monitor.EventPoliciesPaused:
		return "policies paused"
	case monitor.EventPoliciesResumed:
		return "policies resumed"
	case monitor.EventRuleSwitched:
		return "rule switched"
	}
	return monitor.Clean(string(k))
}

// EventMark is the state that an event leads to; "" for none.
func EventMark(k monitor.EventKind) string {
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

// Steps reports of each event whether it is a step of an order to end a server, or the
// same told once more: a later one of the list says what came of it. A list of what
// happened leaves it out. The newest comes last.
func Steps(list []monitor.Event) []bool {
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
	detail := monitor.Clean(e.Detail)
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
			s.Detail = " " + rest
			return s
		}
	case e.Kind == monitor.EventZombieDetected:
		cause, _, _ := strings.Cut(detail, ": ") // it is enough beside the others
		detail = cause
		if monitor.Cause(cause).OfHealth() {
			detail = causeWords(monitor.Cause(cause))
		}
	case e.Kind == monitor.EventHeartbeatRestored && monitor.Cause(strings.TrimPrefix(detail, "was ")).OfHealth():
		s.What, detail = "well again", "was: "+causeWords(monitor.Cause(strings.TrimPrefix(detail, "was ")))
	case strings.HasPrefix(detail, "by "):
		s.Detail = " " + detail
		return s
	}
	if detail != "" {
		s.Detail = " · " + detail
	}
	return s
}
