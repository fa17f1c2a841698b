package watch

import (
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// TestRestoredIdleness: that a server was idle counts when it has done nothing since.
func TestRestoredIdleness(t *testing.T) {
	before, now := time.Now().Add(-time.Hour), time.Now()
	for task, want := range map[string]time.Time{"Task-7:FindSymbolTool": before, "Task-8:FindSymbolTool": now} {
		l := New(Options{Rules: noRules{}}).begin(nil)
		tr := known()
		l.proofs = map[monitor.Identity]monitor.Proof{tr.in.Identity: {IdleSince: before, LastTask: "Task-7:FindSymbolTool", Calls: number(3)}}
		l.restore(tr)
		answer := idle(&serena.Task{Name: task, Finished: true})
		answer.calls = number(3)
		tr.noteUse(answer, now)
		if got := tr.shownEvidence().IdleSince; !got.Equal(want) {
			t.Errorf("%s: idle since %v, want %v", task, got, want)
		}
	}
}

// looked is a machine on which every look at the ends of a server finds the same.
type looked struct {
	process.System
	closed bool
}

func (l looked) Ends(server monitor.Identity) process.Ends {
	return lookedEnds{l.System.Ends(server), l.closed}
}

type lookedEnds struct {
	process.Ends
	closed bool
}

func (e lookedEnds) Closed(monitor.Pipe) (bool, error) { return e.closed, nil }

func (lookedEnds) HasUnixClients([]monitor.Identity) (bool, error) { return false, nil }

// exits is process.Exits under a name that is not also that of a method, to be embedded.
type exits = process.Exits

// ended are watched processes of which one has ended.
type ended struct {
	exits
	one monitor.Identity
}

func (e ended) Watch(id monitor.Identity) error {
	if id == e.one {
		return process.ErrGone
	}
	return nil
}

// TestRestoredOrphan: since when a server was alone counts when the first look
// finds the same.
func TestRestoredOrphan(t *testing.T) {
	before, now := time.Now().Add(-time.Hour), time.Now()
	client := &monitor.Client{Identity: monitor.Identity{PID: 1 << 30, Start: 1}, Name: "Codex"}
	pipe := &aPipe
	for name, c := range map[string]struct {
		proof monitor.Proof
		open  bool // when it is looked at first
		want  time.Time
	}{
		"closed, as before":       {monitor.Proof{Client: client, Pipe: pipe, AloneSince: before}, false, before},
		"open, and closed later":  {monitor.Proof{Client: client, Pipe: pipe, AloneSince: before}, true, now},
		"closed, not seen before": {monitor.Proof{Client: client, Pipe: pipe}, false, now},
	} {
		l := New(Options{Rules: noRules{}}).begin(ended{one: client.Identity})
		tr := known()
		l.tracked[tr.in.Identity] = tr
		l.proofs = map[monitor.Identity]monitor.Proof{tr.in.Identity: c.proof}
		l.restore(tr)
		l.o.System = looked{System: process.Local(), closed: !c.open}
		if l.watchExits(now); tr.clientGone.IsZero() {
			t.Fatalf("%s: its client is gone, and nobody says so", name)
		}
		l.o.System = looked{System: process.Local(), closed: true}
		l.checkPipe(tr, now)
		if e := tr.shownEvidence(); !e.Orphaned || !e.ClientGone || !e.AloneSince.Equal(c.want) {
			t.Errorf("%s: %+v, want %v", name, e, c.want)
		}
	}
}
