package watch

import (
	"context"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// Hint is somebody's word that a process is a server: Serena's tray protocol,
// the registry, or what started it. It is checked before anything is shown.
type Hint struct {
	PID  int
	Port int // of the dashboard, 0 when not known
}

// maxHints bounds the hints that wait for the loop; what finds no room is found
// by the next scan all the same.
const maxHints = 256

// Hint makes the watch look at a process now instead of at its next round, and
// ask its dashboard. It returns at once and is safe for concurrent use.
func (w *Watch) Hint(h Hint) {
	if h.PID > 0 {
		select {
		case w.hints <- h:
		default:
		}
	}
}

// follow looks at the process that a hint names.
func (l *loop) follow(ctx context.Context, h Hint, now time.Time) {
	if h.Port != 0 && process.ListensOn(l.o.System, h.Port, h.PID) != nil {
		return
	}
	t := l.instanceAt(h.PID)
	if t == nil {
		if mine, err := l.o.System.SameUser(h.PID); err != nil || !mine {
			return
		}
		info, err := l.o.System.Read(h.PID)
		if err != nil {
			return
		}
		l.discover([]process.Info{info}, now)
		if t = l.instanceAt(h.PID); t == nil {
			t = l.unrecognised(info, h, now)
		}
	}
	if t != nil && t.isAlone() && h.Port != 0 {
		t.in.Kind = monitor.KindSerena // by its own word, until the port answers as something else
	}
	if t == nil || t.in.Kind != monitor.KindSerena {
		return
	}
	t.active, t.wantOverview = true, true
	if t.port == 0 && h.Port != 0 {
		t.offer(candidate{h.Port, h.PID}, now)
	}
	if t.probeDue(now, true) {
		l.probe(ctx, t, now)
	}
}

// unrecognised tracks a process that no rule knows, such as a program that
// runs Serena as a library. It is shown once its own port answers as a Serena
// dashboard, and nobody may end it: see Instance.Recognised.
func (l *loop) unrecognised(info process.Info, h Hint, now time.Time) *tracked {
	if h.Port == 0 {
		return nil
	}
	t := newTracked(info, monitor.KindSerena, serena.Command{}, now)
	t.in.Recognised = false
	if !l.begin(t, info, now) {
		return nil
	}
	return t
}

// offer takes in a port that is said to be the dashboard.
func (t *tracked) offer(c candidate, now time.Time) {
	if slices.Contains(t.candidates, c) {
		return
	}
	t.notDashboard = slices.DeleteFunc(t.notDashboard, func(port int) bool { return port == c.port })
	t.candidates = append(t.candidates, c)
	if t.Failures == 0 {
		t.nextProbe = now
	}
}
