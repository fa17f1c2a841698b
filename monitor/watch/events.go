package watch

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// recentEvents keeps the newest events for the snapshots. It is safe for concurrent use.
type recentEvents struct {
	mu         sync.Mutex      // held while an event is told, so that all are told in one order
	recent     []monitor.Event // newest first; replaced, never changed
	departures []monitor.Event // that instances were ended, or parked
}

// maxDepartures bounds what is remembered of those that were ended or parked: long enough for a
// parent that takes its time to reap them, and for clients that hold a place without a process.
const maxDepartures = 200

// note takes in an event, and tells it to all. When an instance has been ended, or was not,
// the steps on the way are recent no more, and that it is gone is said once there.
func (w *Watch) note(e monitor.Event) {
	h := &w.events
	h.mu.Lock()
	defer h.mu.Unlock()
	w.o.Record(e)
	w.o.Log.Info(fmt.Sprintf("instance %s", e.Kind), "instance", e.Label, "pid", e.PID, "detail", e.Detail)
	if e.Kind == monitor.EventEnded || e.Kind == monitor.EventParked {
		h.departures = append(h.departures[max(0, len(h.departures)-maxDepartures+1):], e)
	}
	if e.Kind == monitor.EventStopped && slices.ContainsFunc(h.recent, func(old monitor.Event) bool { return supersedes(&old, &e) }) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(h.recent), func(old monitor.Event) bool { return supersedes(&e, &old) })
	h.recent = slices.Concat([]monitor.Event{e}, kept[:min(len(kept), monitor.RecentEvents-1)])
}

// steps are the events on the way to the end of an instance, or to the word that it was not
// ended.
var steps = []monitor.EventKind{monitor.EventStopOrdered, monitor.EventAsked, monitor.EventTerminated, monitor.EventStopRefused, monitor.EventStopFailed}

// superseded are, of each kind of event, the kinds of which it says all that they did of
// the same instance.
var superseded = map[monitor.EventKind][]monitor.EventKind{
	monitor.EventStopRefused: steps,
	monitor.EventStopFailed:  steps,
	monitor.EventEnded:       slices.Concat(steps, []monitor.EventKind{monitor.EventStopped}),
	monitor.EventParked:      slices.Concat(steps, []monitor.EventKind{monitor.EventStopped, monitor.EventEnded}),
}

// supersedes reports whether an event says all that another one of the same instance does.
func supersedes(e, other *monitor.Event) bool {
	return e.ID == other.ID && slices.Contains(superseded[e.Kind], other.Kind)
}

func (h *recentEvents) latest() []monitor.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recent
}

// hasDeparture reports whether it was told that an instance was ended, or parked.
func (h *recentEvents) hasDeparture(kind monitor.EventKind, in *monitor.Instance) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.departures, func(e monitor.Event) bool { return e.ID == in.ID() && e.Kind == kind })
}

// withoutEnded leaves out what was ended on somebody's word and is not reaped:
// that nobody takes note of an end that was ordered is nothing to act on.
func (h *recentEvents) withoutEnded(list []*monitor.Instance) []*monitor.Instance {
	return slices.DeleteFunc(list, func(in *monitor.Instance) bool {
		return in.Cause == monitor.CauseDefunct && h.hasDeparture(monitor.EventEnded, in)
	})
}

// Record takes in an event that the watch cannot see by itself, such as a rung
// of the stop ladder, for the snapshots and for Options.Record. It is safe for
// concurrent use.
func (w *Watch) Record(e monitor.Event) {
	w.note(e)
	w.wake.Ring()
}

// maxStartAge is how old a process that comes into the model may be to have just
// started: an older one was there, and rules or a hint have made it known.
const maxStartAge = time.Minute

// newEvents tells what has happened since the last snapshot, in the order of the new one,
// departures last. In the first one of a watch every instance is found, not started. That
// one is parked, wakes or loses its last client is told by who does it.
//
// Nothing is told of what nobody knows for a server, and nothing yet of what a launch will
// be told of, because that says who asked for it. Who has become another process is told
// as that.
func (w *Watch) newEvents(l *loop, before, after *monitor.Snapshot) (events []monitor.Event) {
	add := func(k monitor.EventKind, in *monitor.Instance, detail string) {
		events = append(events, in.Event(k, after.At, detail))
	}
	for _, in := range l.unannounced {
		add(l.arrivalKind(in, before, after), in, in.Origin())
		add(monitor.EventStopped, in, runningTime(in, after.At))
	}
	l.unannounced = nil

	left := l.announced
	l.announced = make(map[monitor.Identity]*monitor.Instance, len(after.Instances))
	for _, in := range after.Instances {
		was := left[in.Identity]
		switch t := l.tracked[in.Identity]; {
		case in.OnPipes || t != nil && t.awaited:
			continue
		case in.State != monitor.StateParked:
			l.announced[in.Identity] = in
		case was != nil && !w.events.hasDeparture(monitor.EventParked, in):
			// As long as it has clients its place stays, and whoever keeps it says that it
			// is parked. When its last client leaves in the moment between, or another is
			// started in its place, nobody says so: then it has stopped.
			l.announced[in.Identity] = was
		}
		delete(left, in.Identity)
		if in.State == monitor.StateParked {
			continue
		}
		if was == nil {
			was = &monitor.Instance{State: monitor.StateStarting}
			if in.Cause != monitor.CauseDefunct { // its end was told before
				add(l.arrivalKind(in, before, after), in, in.Origin())
			}
			if before.Seq == 0 {
				was.State, was.ProjectName = monitor.StateProject, in.ProjectName // nobody saw it activate
			}
		}
		if in.State == monitor.StateProject && (was.State != monitor.StateProject && was.State != monitor.StateZombie || was.ProjectName != in.ProjectName) {
			add(monitor.EventProjectActivated, in, in.ProjectRoot)
		}
		switch {
		case in.State == monitor.StateZombie && (was.State != monitor.StateZombie || was.Cause != in.Cause):
			add(monitor.EventZombieDetected, in, string(in.Cause)+": "+in.Reason)
		case was.State == monitor.StateZombie && in.State != monitor.StateZombie:
			add(monitor.EventHeartbeatRestored, in, "was "+string(was.Cause))
		}
	}
	for _, now := range before.Instances {
		in := left[now.Identity]
		switch {
		case in == nil || in.Cause == monitor.CauseDefunct || now.State == monitor.StateParked && w.events.hasDeparture(monitor.EventParked, in):
		case l.isAlive(in.Identity):
			add(monitor.EventForgotten, in, "it runs on, but no rule knows it any more")
		default:
			add(monitor.EventStopped, in, runningTime(in, after.At))
		}
	}
	return events
}

// arrivalKind is the event for an instance that has come into the model: also because of
// other rules, or of a hint.
func (l *loop) arrivalKind(in *monitor.Instance, before, after *monitor.Snapshot) monitor.EventKind {
	if before.Seq == 0 || in.Identity.Start < l.self.Start || !in.StartedAt.IsZero() && after.At.Sub(in.StartedAt) > maxStartAge {
		return monitor.EventFound
	}
	return monitor.EventStarted
}

// moveAnnounced takes note that what was taken for a server is another process, or none: that is no
// event.
func (l *loop) moveAnnounced(from, to monitor.Identity) {
	in := l.announced[from]
	delete(l.announced, from)
	if in != nil && to != (monitor.Identity{}) && l.announced[to] == nil {
		moved := *in
		moved.Identity = to
		l.announced[to] = &moved
	}
}

func (l *loop) isAlive(id monitor.Identity) bool { return process.Lives(l.o.System, id) }

// runningTime tells how long an instance ran, in words; nothing when that is not known.
func runningTime(in *monitor.Instance, until time.Time) string {
	if in.StartedAt.IsZero() || until.Before(in.StartedAt) {
		return ""
	}
	return "ran " + monitor.Span(until.Sub(in.StartedAt))
}
