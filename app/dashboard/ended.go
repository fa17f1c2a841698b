package dashboard

import (
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Ended is an instance that has left the model, as it last was.
type Ended struct {
	Instance *view.Server `json:"instance"`
	EndedAt  *time.Time   `json:"ended_at"`
	Why      string       `json:"why"` // in words, safe to show
}

// How long and how many ended instances are kept.
const (
	endedKept = 10 * time.Minute
	endedMost = 100
)

// end is what is known about how an instance left. The zero value is nothing.
type end struct {
	kind   monitor.EventKind
	at     time.Time
	detail string
	forced bool // something of it had to be killed
}

// weight orders the kinds of events by how much they tell of an end. What says
// nothing about it has none.
func weight(k monitor.EventKind) int {
	switch k {
	case monitor.EventEnded:
		return 3
	case monitor.EventForceKilled:
		return 2
	case monitor.EventStopped, monitor.EventForgotten:
		return 1
	}
	return 0
}

// learn takes in an event of the instance, in any order and more than once.
func (e end) learn(event monitor.Event) end {
	forced := e.forced || event.Kind == monitor.EventForceKilled
	switch w := weight(event.Kind); {
	case w > weight(e.kind), w > 0 && w == weight(e.kind) && event.At.After(e.at):
		e = end{kind: event.Kind, at: event.At, detail: event.Detail}
	}
	e.forced = forced
	return e
}

// why puts an end into words.
func (e end) why(in *monitor.Instance) string {
	detail := func(before string) string {
		if text := monitor.Clean(e.detail); text != "" {
			return before + text
		}
		return ""
	}
	switch {
	case e.kind == monitor.EventEnded && e.forced:
		return "lamplighter ended it by force" + detail(": ")
	case e.kind == monitor.EventEnded:
		return "lamplighter ended it" + detail(": ")
	case e.kind == monitor.EventForceKilled:
		return "it was force-killed" + detail(": ")
	case e.kind == monitor.EventStopped:
		return "it has exited" + detail("; it ")
	case e.kind == monitor.EventForgotten && e.detail != "":
		return detail("")
	case e.kind == monitor.EventForgotten:
		return "it runs on, but is not known as a server any more"
	case in.Cause == monitor.CauseDefunct:
		return "it had exited, and now the program that started it has taken note"
	}
	return "it has exited; what ended it was not seen"
}

// ends remembers how instances left, by their ids, for those that have not left
// the snapshots yet. It forgets the oldest.
type ends struct {
	of    map[string]end
	order []string // ids, the oldest first
}

// endsMost is how many are remembered: those of a stop of everything.
const endsMost = 512

func (s *ends) learn(e monitor.Event) {
	if s.of == nil {
		s.of = make(map[string]end)
	}
	known, there := s.of[e.ID]
	if e.Kind == monitor.EventFound || e.Kind == monitor.EventStarted {
		if there && e.At.After(known.at) { // it is back
			s.drop(e.ID)
		}
		return
	}
	if weight(e.Kind) == 0 {
		return
	}
	s.of[e.ID] = known.learn(e)
	if !there {
		s.order = append(s.order, e.ID)
	}
	if len(s.order) > endsMost {
		s.drop(s.order[0])
	}
}

func (s *ends) drop(id string) {
	if _, there := s.of[id]; !there {
		return
	}
	delete(s.of, id)
	i := slices.Index(s.order, id)
	s.order = slices.Delete(s.order, i, i+1)
}
