//go:build real && soak && linux

package endurance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/monitor"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/view"
)

// lamp is one server of the soak, in the ledger: who it is, and what may become of
// it. A lamp belongs to the goroutine that plays it, save what the ledger changes.
type lamp struct {
	id     monitor.Identity
	what   string           // how it was started, in words
	client monitor.Identity // who holds its pipes; zero: nobody
	port   int              // of its dashboard

	project string // that it says it has; "" = none

	// What may become of it. The ledger's lock guards these.
	mayEnd   string // why lamplighter may end it; "" = it never may
	mustEnd  bool   // and has to
	orphaned bool   // its client was killed
	leaving  bool   // we end it ourselves, or it does
	gone     bool
	reds     map[monitor.Cause]int // how often it may be told to need attention
	names    int                   // how many projects it had
	shown    bool                  // lamplighter listed it
}

// ledger knows every server that the soak has made. All methods are safe for
// concurrent use.
type ledger struct {
	mu    sync.Mutex
	lamps map[string]*lamp // by id, as the events have it
	order []*lamp
	wrong []string // what must not have happened

	// counts of what was done, for the report.
	counts map[string]int
}

func newLedger() *ledger {
	return &ledger{lamps: map[string]*lamp{}, counts: map[string]int{}}
}

// add takes in a server that runs.
func (l *ledger) add(p *lamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.reds = map[monitor.Cause]int{}
	l.lamps[p.id.String()] = p
	l.order = append(l.order, p)
	l.counts["instances, "+p.what]++
}

// knows tells that it has a server already.
func (l *ledger) knows(id monitor.Identity) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lamps[id.String()] != nil
}

// count adds to a line of the report.
func (l *ledger) count(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[what]++
}

// change lets do change what may become of a lamp. It is called before what it
// allows is done.
func (l *ledger) change(p *lamp, do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// fault takes note of what must not have happened.
func (l *ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

// sweep looks which lamps are gone. One that nobody was allowed to end was ended
// by somebody.
func (l *ledger) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.order {
		if p.gone || runs(p.id) {
			continue
		}
		p.gone = true
		if !p.leaving && p.mayEnd == "" {
			l.wrong = append(l.wrong, fmt.Sprintf("%s (%s) has ended, which nobody may have ended", p.id, p.what))
		}
	}
}

// living are the lamps that run, and are not about to leave.
func (l *ledger) living(ok func(*lamp) bool) []*lamp {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*lamp
	for _, p := range l.order {
		if !p.gone && !p.leaving && ok(p) {
			found = append(found, p)
		}
	}
	return found
}

// all are all lamps so far.
func (l *ledger) all() []*lamp {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.order)
}

// runs reports whether a process runs. One that has exited and is not reaped does
// not.
func runs(id monitor.Identity) bool { return facts.Lives(facts.Local(), id) }

// soakIdentity is who a living process is; zero: it has ended.
func soakIdentity(pid int) monitor.Identity {
	s, err := facts.ReadStat(pid)
	if err != nil {
		return monitor.Identity{}
	}
	return s.Identity
}

// told is what the events say of one server.
type told struct {
	kinds  map[monitor.EventKind]int
	causes map[monitor.Cause]int
	all    []monitor.Event
}

// String is what was told, an event a line.
func (t *told) String() string {
	var text strings.Builder
	for _, e := range t.all {
		fmt.Fprintf(&text, "\n\t%s %s: %s", e.At.Format("15:04:05.000"), view.EventWords(e.Kind), e.Detail)
	}
	return text.String()
}

// byServer sorts the events by whom they are about. What is about nobody, or about
// a job's tree, is left out.
func byServer(all []monitor.Event) map[string]*told {
	found := map[string]*told{}
	for _, e := range all {
		if e.PID == 0 || e.ID == "" {
			continue
		}
		t := found[e.ID]
		if t == nil {
			t = &told{kinds: map[monitor.EventKind]int{}, causes: map[monitor.Cause]int{}}
			found[e.ID] = t
		}
		t.kinds[e.Kind]++
		t.all = append(t.all, e)
		if e.Kind == monitor.EventZombieDetected {
			cause, _, _ := strings.Cut(e.Detail, ":")
			t.causes[monitor.Cause(cause)]++
		}
	}
	return found
}

// ladder are the events of a server that lamplighter ends.
var ladder = []monitor.EventKind{
	monitor.EventStopOrdered, monitor.EventAsked, monitor.EventTerminated, monitor.EventForceKilled, monitor.EventStopFailed, monitor.EventEnded,
}

// compare holds the events against the ledger: each server has come and gone once,
// nothing is told that did not happen, and only those were ended that may be.
func (l *ledger) compare(all []monitor.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := byServer(all)
	wrong := func(p *lamp, format string, args ...any) {
		l.wrong = append(l.wrong, fmt.Sprintf("%s (%s): ", p.id, p.what)+fmt.Sprintf(format, args...))
	}
	for _, p := range l.order {
		t := events[p.id.String()]
		if t == nil {
			if p.shown {
				wrong(p, "it was listed, and no event tells of it")
			}
			t = &told{}
		}
		delete(events, p.id.String())
		came := t.kinds[monitor.EventStarted] + t.kinds[monitor.EventFound]
		// What its parent does not reap for a while is shown once more, as defunct.
		// That it has ended was told before, unless the two were seen at once.
		left, defunct := t.kinds[monitor.EventStopped], t.causes[monitor.CauseDefunct]
		// Of a shared one it is told that it is parked: in place of that, or besides
		// when a client came just as it ended.
		if left == 0 {
			left = t.kinds[monitor.EventParked]
		}
		if left == 0 {
			left = defunct
		}
		if came > 1 || came != left || defunct > 1 || p.shown && came != 1 {
			wrong(p, "it came and went once, but the events tell of %d arrivals and %d departures:%s", came, left, t)
		}
		for cause, n := range t.causes {
			if cause == monitor.CauseSuspended && t.kinds[monitor.EventStopOrdered] > 0 {
				n-- // while it is ended all of it is suspended for a moment, so that nothing gets away
			}
			if cause != monitor.CauseDefunct && n > p.reds[cause] {
				wrong(p, "it was %s %d times at most, but %d events say so:%s", cause, p.reds[cause], n, t)
			}
		}
		if n := t.kinds[monitor.EventHeartbeatRestored]; n > t.kinds[monitor.EventZombieDetected] {
			wrong(p, "it recovered more often than it was in trouble:%s", t)
		}
		if n := t.kinds[monitor.EventProjectActivated]; n > max(p.names, 1) {
			wrong(p, "it had %d projects, but %d events tell of one:%s", p.names, n, t)
		}
		// That it will is also said of one that is just dying with its client.
		if t.kinds[monitor.EventShutdownPlanned] > 0 && p.mayEnd == "" && !p.leaving {
			wrong(p, "nobody may end it, but its end was announced:%s", t)
		}
		if p.mayEnd == "" {
			for _, kind := range ladder {
				if t.kinds[kind] > 0 {
					wrong(p, "nobody may end it, but an event says %q:%s", view.EventWords(kind), t)
				}
			}
		}
		if p.mustEnd && t.kinds[monitor.EventEnded] != 1 {
			wrong(p, "a policy has to end it, and %d events say so:%s", t.kinds[monitor.EventEnded], t)
		}
		if n := t.kinds[monitor.EventStopFailed]; n > 0 {
			wrong(p, "it could not be ended:%s", t)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(events)) {
		l.wrong = append(l.wrong, fmt.Sprintf("%s is not in the ledger, but events tell of it:%s", id, events[id]))
	}
}

// judge fails the test for everything that must not have happened.
func (l *ledger) judge(t *testing.T) (faults int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, each := range l.wrong {
		if i == 40 {
			t.Errorf("and %d more", len(l.wrong)-i)
			break
		}
		t.Error(each)
	}
	return len(l.wrong)
}
