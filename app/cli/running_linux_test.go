package cli

import (
	"slices"
	"testing"
	"time"

	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// It has ended although another one, which systemd has started for a client, holds
// the lock and may not answer yet.
func TestHasEnded(t *testing.T) {
	id := monitor.Identity{PID: 4711, Start: 7}
	for name, test := range map[string]struct {
		found   running
		process monitor.Identity // that has this pid now, zero for none
		answers int              // pid, 0 for none
		free    bool             // the lock
		want    bool
	}{
		"it answers":                       {found: running{pid: 4711, id: id}, process: id, answers: 4711, free: true},
		"another one answers":              {found: running{pid: 4711}, answers: 4712, want: true},
		"another one begins":               {found: running{pid: 4711, id: id}, want: true},
		"another one begins, its pid used": {found: running{pid: 4711, id: id}, process: monitor.Identity{PID: 4711, Start: 8}, want: true},
		"it is ending":                     {found: running{pid: 4711, id: id}, process: id},
		"it has let go of the lock":        {found: running{pid: 4711, id: id}, process: id, free: true, want: true},
		"nobody knows":                     {found: running{pid: 4711}},
		"nobody has the lock":              {found: running{pid: 4711}, free: true, want: true},
	} {
		m := newMachine(t)
		m.Process = func(int) (process.Info, error) {
			if test.process == (monitor.Identity{}) {
				return process.Info{}, process.ErrGone
			}
			return process.Info{Identity: test.process}, nil
		}
		lock, err := daemon.TakeLock(m.Places(), true)
		if err != nil {
			t.Fatal(err)
		}
		if test.free {
			lock.Close()
		}
		if test.answers != 0 {
			(&fakeBackground{pid: test.answers}).serve(t, m.desktop)
		}
		if got := m.hasEnded(t.Context(), &test.found); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
		if err := m.program.ended(t.Context(), &test.found, time.Nanosecond); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
		lock.Close()
	}
}

// Who has taken the place of the one that was found is ended in its stead.
func TestEndOfAnother(t *testing.T) {
	m := newMachine(t)
	m.next.serve(t, m.desktop)
	if err := m.end(t.Context(), &running{pid: 4711, version: "1.2.2"}, true); err != nil || !slices.Equal(m.next.quits, []bool{true}) {
		t.Errorf("%v, quits %v", err, m.next.quits)
	}
	if !m.hasEnded(t.Context(), &running{pid: 4712}) {
		t.Error("it goes on")
	}
}
