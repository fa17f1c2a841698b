package watch

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// happened keeps the newest events for the snapshots. The zero value works. It
// is safe for concurrent use.
type happened struct {
	mu     sync.Mutex
	recent []monitor.Event // newest first; replaced, never changed
	ended  []string        // ids of the instances that were ended last, on somebody's word
	gone   []string        // ids of those whose end was told last
	untold map[string]bool // ids of those that are shown without a process, and whose end was not told
}

// mostEnded bounds what is remembered of those that were ended, or whose end was
// told: long enough for a parent that takes its time to reap them, and for clients
// that hold a place without a process.
const mostEnded = 100

// note takes in an event. When an instance has been ended, or was not, the steps
// on the way are left out, and that it is gone is said once.
func (h *happened) note(e monitor.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Kind == monitor.EventEnded {
		h.ended = append(h.ended[max(0, len(h.ended)-mostEnded+1):], e.ID)
	}
	if e.Kind == monitor.EventEnded || e.Kind == monitor.EventParked || e.Kind == monitor.EventStopped {
		h.gone = append(h.gone[max(0, len(h.gone)-mostEnded+1):], e.ID)
		delete(h.untold, e.ID)
	}
	if e.Kind == monitor.EventStopped && slices.ContainsFunc(h.recent, func(old monitor.Event) bool {
		return old.ID == e.ID && (old.Kind == monitor.EventEnded || old.Kind == monitor.EventParked)
	}) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(h.recent), func(old monitor.Event) bool {
		return old.ID == e.ID && supersedes(e.Kind, old.Kind)
	})
	h.recent = slices.Concat([]monitor.Event{e}, kept[:min(len(kept), monitor.RecentEvents-1)])
}

// supersedes reports whether an event says all that an earlier one of the same
// instance did.
func supersedes(e, old monitor.EventKind) bool {
	switch e {
	case monitor.EventEnded, monitor.EventStopRefused, monitor.EventStopFailed:
	case monitor.EventParked:
		if old == monitor.EventEnded || old == monitor.EventStopped {
			return true
		}
	default:
		return false
	}
	switch old {
	case monitor.EventStopOrdered, monitor.EventAsked, monitor.EventTerminated:
		return true
	case monitor.EventStopped:
		return e == monitor.EventEnded
	case monitor.EventStopRefused, monitor.EventStopFailed:
		return true
	}
	return false
}

func (h *happened) list() []monitor.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recent
}

// withoutEnded leaves out what was ended on somebody's word and is not reaped:
// that nobody takes note of an end that was ordered is nothing to act on.
func (h *happened) withoutEnded(list []monitor.Instance) []monitor.Instance {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(list, func(in monitor.Instance) bool {
		return in.Cause == monitor.CauseDefunct && slices.Contains(h.ended, in.ID())
	})
}

// departed is what remains to be told when one that clients share has ended. As
// long as it has clients its place stays, without a process, and whoever keeps it
// says that it is parked. When the last client leaves in the moment between, nobody
// says anything: then it has stopped.
func (h *happened) departed(before, after *monitor.Snapshot) []monitor.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := make(map[monitor.Identity]bool) // those without a process
	for i := range after.Instances {
		if in := &after.Instances[i]; in.State == monitor.StateParked {
			now[in.Identity] = true
		}
	}
	var events []monitor.Event
	for i := range before.Instances {
		in := &before.Instances[i]
		switch id := in.ID(); {
		case now[in.Identity]:
			if in.State != monitor.StateParked && in.Cause != monitor.CauseDefunct && !slices.Contains(h.gone, id) {
				if h.untold == nil {
					h.untold = make(map[string]bool)
				}
				h.untold[id] = true
			}
		case in.State == monitor.StateParked && h.untold[id]:
			events = append(events, monitor.Event{At: after.At, Kind: monitor.EventStopped, ID: id, PID: in.Identity.PID, Label: in.Label()})
		}
	}
	return events
}

// Record takes in an event that the watch cannot see by itself, such as a rung
// of the stop ladder, for the snapshots and for Options.Record. It is safe for
// concurrent use.
func (w *Watch) Record(e monitor.Event) {
	w.note(e)
	w.wake.Ring()
}

func (w *Watch) note(e monitor.Event) {
	w.recording.Lock()
	defer w.recording.Unlock()
	w.happened.note(e)
	w.record(e)
	attrs := []any{"instance", e.Label, "pid", e.PID}
	if e.Detail != "" {
		attrs = append(attrs, "detail", e.Detail)
	}
	w.log.Info(fmt.Sprintf("instance %s", e.Kind), attrs...)
}

// youth is how old a process that comes into the model may be to have just
// started: an older one was there, and rules or a hint have made it known.
const youth = time.Minute

// judgeEvent corrects what two snapshots alone cannot tell: an instance also
// comes and goes because other rules hold, or because its launcher turned out to
// be no server, which is nothing to tell.
func (l *loop) judgeEvent(e monitor.Event, before, after *monitor.Snapshot) (told monitor.Event, tell bool) {
	id, err := monitor.ParseIdentity(e.ID)
	if err != nil {
		return e, true
	}
	for _, s := range []*monitor.Snapshot{after, before} {
		if in := s.Instance(id); in != nil {
			if in.OnPipes {
				return e, false // nobody knows that it is a server
			}
			break
		}
	}
	if _, moved := l.moved[id]; moved && e.Kind == monitor.EventStopped || e.Kind == monitor.EventStarted && l.shownAs(id, before) {
		return e, false
	}
	switch e.Kind {
	case monitor.EventStarted:
		if id.Start < l.self.Start {
			e.Kind = monitor.EventFound // it was there before us, and is adopted
		}
		for i := range after.Instances {
			in := &after.Instances[i]
			if in.Identity == id && !in.StartedAt.IsZero() && e.At.Sub(in.StartedAt) > youth {
				e.Kind = monitor.EventFound
			}
		}
	case monitor.EventStopped:
		if alive, err := process.Alive(l.system, id); err == nil && alive {
			e.Kind, e.Detail = monitor.EventForgotten, "it runs on, but no rule knows it any more"
		}
	}
	if t := l.tracked[id]; t != nil && t.awaited {
		t.held = append(t.held, e)
		return e, false
	}
	return e, true
}

// shownAs reports whether a snapshot shows what was taken for the server id.
func (l *loop) shownAs(id monitor.Identity, in *monitor.Snapshot) bool {
	for old, now := range l.moved {
		if now == id && (len(in.Find(old.String())) > 0 || l.shownAs(old, in)) {
			return true
		}
	}
	return false
}
