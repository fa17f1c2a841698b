package watch

import (
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// Restore tells the watch what was known of an instance before. It is for Serve to
// begin with: what has been found already keeps what is known of it. It is safe for
// concurrent use.
func (w *Watch) Restore(id monitor.Identity, p monitor.Proof) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given.proofs[id] = p
}

// restore takes in what was known of an instance when it is found. The client may
// have ended since: its exit is told to whoever watches it from now on. That it is
// alone, idle or failing is for the first look to bear out, see lookForEnd, noteUse
// and failed.
func (l *loop) restore(t *tracked, now time.Time) {
	p, known := l.proofs[t.in.Identity]
	if !known {
		return
	}
	delete(l.proofs, t.in.Identity)
	e := &t.in.Evidence
	if p.Client != nil && !t.in.Managed {
		above, client := t.in.Client, *p.Client
		t.in.Client = &client
		if above != nil {
			l.unwatch(above.Identity)
		}
		l.watchClient(t, now)
		if p.Pipe != nil {
			e.Pipe = *p.Pipe
		}
	}
	if t.in.Entry == nil {
		t.in.Entry = p.Entry
	}
	t.orphanedBefore, t.suspectedBefore = p.AloneSince, p.SuspectedSince
	e.IdleSince, t.lastTask, t.in.ToolCalls = p.IdleSince, p.LastTask, p.Calls
	t.calls.open, t.calls.until = !p.CutOffUntil.IsZero(), p.CutOffUntil
	e.RedSince = p.RedSince
	if !p.FailingSince.IsZero() {
		t.Failures, t.FailingSince = monitor.FailuresForRed, p.FailingSince
	}
}

// remembered begins with a process of which only an entry of its client's settings told
// that it is a server, when its client is gone by now.
func (l *loop) remembered(p process.Info, now time.Time) bool {
	entry := l.proofs[p.Identity].Entry
	if entry == nil || !entry.Proves || entry.Program != p.Exe || l.o.Rules.Hides(p.Exe, p.Args) || l.tracked[p.Identity] != nil {
		return false
	}
	t := newTracked(p, entryKind(entry.Name, p), serena.Command{Args: p.Args}, now)
	return l.begin(t, p, now)
}
