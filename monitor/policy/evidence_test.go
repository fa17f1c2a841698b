package policy

import (
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestEvidence(t *testing.T) {
	const memory = "it uses 640 MB in 3 processes"
	awake := map[string]time.Time{ // by the name of the case
		"session, never, and the machine slept": ago(5 * time.Minute), "shared, and the machine slept before": ago(2 * time.Hour),
	}
	for _, c := range []struct {
		name string
		in   monitor.Instance
		r    Rules
		want []string
	}{
		{"idle over HTTP", server(func(in *monitor.Instance) { in.LastActivity = ago(62 * time.Minute) }), settings(), []string{
			"it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least", "its last call was at 10:58", memory,
		}},
		{"attached", server(stdio, repl, working), settings(), []string{
			"its client Codex (7) is connected", "asked: a call runs or waits", "it keeps variables of its clients", memory,
		}},
		{"orphan", server(orphan(12*time.Minute), mute, pin), settings(), []string{
			"it is pinned",
			"its client Codex (7) has closed the connection and has ended, found at 11:48",
			"whether it is at work is not known, which counts as busy",
			"it has needed attention since 11:48: orphaned", memory,
		}},
		{"orphan, its client lives", server(orphan(time.Hour), func(in *monitor.Instance) { in.Evidence.ClientGone, in.State = false, monitor.StateProject }), settings(), []string{
			"its client Codex (7) has closed the connection, found at 11:00", "asked: no call runs", "idle since 11:00 at least", memory,
		}},
		{"suspected", server(suspect, mute), settings(keep), []string{
			"it is kept until 13:00", "nobody seems to be connected, but its client was never seen, found at 11:00",
			"whether it is at work is not known, which counts as busy", "it has needed attention since 11:00: suspected", memory,
		}},
		{"suspected, its client has ended", server(suspect, mute, func(in *monitor.Instance) { in.Evidence.ClientGone, in.State = true, monitor.StateProject }), settings(), []string{
			"its client Codex (7) has ended; whether somebody else is connected cannot be told, found at 11:00",
			"whether it is at work is not known, which counts as busy", memory,
		}},
		{"its client has just ended", server(stdio, mute, func(in *monitor.Instance) { in.Evidence.ClientGone = true }), settings(), []string{
			"its client Codex (7) has ended", "whether it is at work is not known, which counts as busy", memory,
		}},
		{"little is known", monitor.Instance{Identity: monitor.Identity{PID: 5}}, settings(), []string{
			unidentified, "how it is reached is not known", "whether it is at work is not known, which counts as busy",
		}},
		{"of an unknown client", server(stdio, mute, func(in *monitor.Instance) { in.Client, in.Processes = nil, 1 }), settings(), []string{
			"its client is not known", "whether it is at work is not known, which counts as busy", "it uses 640 MB in 1 process",
		}},
		{"session, never, and the machine slept", server(session, func(in *monitor.Instance) { in.RSSBytes = 0 }),
			settings(override(Override{Project: "alpha", Never: true})), []string{
				never, ofSession, "it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least",
				"the machine woke or its clock was set at 11:55: times count from then",
			}},
		{"shared, and the machine slept before", server(shared, func(in *monitor.Instance) { in.RSSBytes = 0 }),
			settings(), []string{
				"it was started to be shared", "it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least",
			}},
		{"shared by two", server(shared, withClients, func(in *monitor.Instance) { in.RSSBytes = 0 }), settings(), []string{
			"it was started to be shared", "2 clients: Codex, Claude Code", "its clients stay attached when it is ended, and the next request starts it again",
			"it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least",
		}},
	} {
		l := newLook(&c.in, &c.r, &monitor.Snapshot{At: noon, AwakeSince: awake[c.name]})
		if got := l.evidence(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}
