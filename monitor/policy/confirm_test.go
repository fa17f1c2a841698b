package policy

import (
	"testing"
	"time"

	"lamplighter/monitor"
)

// What a look at a server finds just before its end has to bear out why it is ended.
func TestConfirm(t *testing.T) {
	again := func(in *monitor.Instance) { in.Evidence.IdleSince = ago(40 * time.Minute) } // which is long enough
	clientLives := func(in *monitor.Instance) {
		in.Evidence.Orphaned, in.Evidence.ClientGone, in.Evidence.AloneSince = false, false, time.Time{}
	}
	held := func(in *monitor.Instance) { in.Evidence.Orphaned, in.Evidence.AloneSince = false, time.Time{} }
	door := func(in *monitor.Instance) { in.Evidence.Orphaned, in.Evidence.Suspected = false, true }
	lost := func(in *monitor.Instance) { in.Evidence.AloneSince = ago(time.Minute) } // found alone anew
	ends := func(in *monitor.Instance) { in.Identity.PID = 0 }
	const stale, notIdle, notAlone = "the policy idle no longer applies", "it is not idle any more", "it is not orphaned any more"
	orphaned := orphan(time.Hour)
	for _, c := range []struct {
		name    string
		ordered bool // by the user
		rule    Rule
		was     monitor.Instance
		change  func(*monitor.Instance)
		r       Rules
		want    string
	}{
		{"idle", false, Idle, server(), func(*monitor.Instance) {}, settings(), ""},
		{"at work", false, Idle, server(), working, settings(), atWork},
		{"mute", false, Idle, server(), mute, settings(), silent},
		{"used", false, Idle, server(), idleFor(time.Second), settings(), "it has just been used"},
		{"used, and idle for long enough", false, Idle, server(), again, settings(), "it has just been used"},
		{"connected", false, Idle, server(), stdio, settings(), "its client Codex (7) is connected"},
		{"keeps variables", false, Idle, server(), repl, settings(), "it keeps variables of its clients, which would be lost"},
		{"kept", false, Idle, server(), func(*monitor.Instance) {}, settings(keep), "it is kept"},
		{"paused", false, Idle, server(), func(*monitor.Instance) {}, settings(pause), "the policies are paused"},
		{"switched off", false, Idle, server(), func(*monitor.Instance) {}, settings(off(Idle)), stale},
		{"ended", false, Idle, server(), ends, settings(), stale},
		{"by another rule", false, Memory, server(large), func(*monitor.Instance) {}, settings(), "the policy memory no longer applies"},
		{"large", false, Memory, server(large), func(*monitor.Instance) {}, settings(func(r *Rules) { r.IdleAfter, r.MemoryEnd = 0, true }), ""},
		{"large and used", false, Memory, server(large), again, settings(func(r *Rules) { r.IdleAfter, r.MemoryEnd = 0, true }), "it has just been used"},

		{"orphaned", false, Orphans, server(orphaned), func(*monitor.Instance) {}, settings(), ""},
		{"orphaned, and hangs", false, Orphans, server(orphaned), mute, settings(), ""},
		{"orphaned, and done with its last call", false, Orphans, server(orphaned), again, settings(), ""},
		{"orphaned, at work", false, Orphans, server(orphaned), working, settings(), "it is at work"},
		{"its client runs", false, Orphans, server(orphaned), clientLives, settings(), "its client Codex (7) is connected"},
		{"somebody holds its pipes", false, Orphans, server(orphaned), held, settings(), unknownUsers},
		{"it listens", false, Orphans, server(orphaned), door, settings(), unknownUsers},
		{"alone since a minute", false, Orphans, server(orphaned), lost, settings(), "the policy orphans no longer applies"},

		{"idle, of an order", true, Idle, server(), func(*monitor.Instance) {}, settings(pause), ""},
		{"at work, of an order", true, Idle, server(), working, settings(), atWork},
		{"mute, of an order", true, Idle, server(), mute, settings(), silent},
		{"used, of an order", true, Idle, server(), again, settings(), "it has just been used"},
		{"ended, of an order", true, Idle, server(), ends, settings(), notIdle},
		{"orphaned, of an order", true, Orphans, server(orphaned), lost, settings(pause), ""},
		{"its client runs, of an order", true, Orphans, server(orphaned), clientLives, settings(), notAlone},
		{"it listens, of an order", true, Orphans, server(orphaned), door, settings(), unknownUsers},
	} {
		is := c.was
		c.change(&is)
		// Only the rule about duplicates looks at others.
		s := &monitor.Snapshot{At: noon, Instances: []*monitor.Instance{new(server(func(in *monitor.Instance) { in.Identity.PID, in.Pinned = 101, true })), new(is)}}
		var err error
		if c.ordered {
			err = ConfirmOrder(&c.was, c.rule, s, c.r)
		} else {
			err = Confirm(&c.was, c.rule, s, c.r)
		}
		if got := words(err); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
