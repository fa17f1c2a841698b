package policy

import (
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestEvidence(t *testing.T) {
	const memory, unasked = "it uses 640 MB in 3 processes", "whether it is at work is not known, which counts as busy"
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
			"its client Codex (7) has ended", "nobody seems to be connected since 11:48", unasked, "it has needed attention since 11:48: orphaned", memory,
		}},
		{"orphan, its client lives", server(orphan(time.Hour), func(in *monitor.Instance) { in.Evidence.ClientGone, in.Evidence.RedSince = false, time.Time{} }), settings(), []string{
			"its client Codex (7) has closed the connection, but its client was not seen to end", "nobody seems to be connected since 11:00", "asked: no call runs", "idle since 11:00 at least", memory,
		}},
		{"suspected", server(suspect, mute), settings(keep), []string{
			"it is kept until 13:00", "its client seems to be gone, but its client was never seen, so that it may be in use", "nobody seems to be connected since 11:00",
			unasked, "it has needed attention since 11:00: suspected", memory,
		}},
		{"suspected, its client has ended", server(suspect, mute, func(in *monitor.Instance) { in.Evidence.ClientGone, in.Evidence.RedSince = true, time.Time{} }), settings(), []string{
			"its client Codex (7) has ended, but " + unknownUsers, "nobody seems to be connected since 11:00", unasked, memory,
		}},
		{"its client has just ended", server(stdio, mute, func(in *monitor.Instance) { in.Evidence.ClientGone = true }), settings(), []string{
			"its client Codex (7) has ended", unasked, memory,
		}},
		{"little is known", monitor.Instance{Identity: monitor.Identity{PID: 5}}, settings(), []string{
			unidentified, "how it is reached is not known", unasked,
		}},
		{"of an unknown client", server(stdio, mute, func(in *monitor.Instance) { in.Client, in.Processes = nil, 1 }), settings(), []string{
			unknownUsers, unasked, "it uses 640 MB in 1 process",
		}},
		{"session, never, and the machine slept", server(session, func(in *monitor.Instance) { in.RSSBytes = 0 }),
			settings(override(Override{Project: "alpha", Never: true})), []string{
				never, ofSession, "it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least",
				"the machine woke or its clock was set at 11:55: times count from then",
			}},
		{"shared, and the machine slept before", server(shared, func(in *monitor.Instance) { in.RSSBytes = 0 }),
			settings(), []string{
				"it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least",
			}},
		{"pinned, kept and spared", server(pin, func(in *monitor.Instance) { in.RSSBytes = 0 }), settings(keep, override(Override{Project: "alpha", Never: true})), []string{
			pinned, "it is kept until 13:00", never, "it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least",
		}},
		{"over ports, by a client that is known", server(mute, func(in *monitor.Instance) { in.Evidence.Transport, in.RSSBytes = "", 0 }), settings(), []string{
			"how it is reached is not known", unasked,
		}},
		{"shared by two", server(shared, withClients, func(in *monitor.Instance) { in.RSSBytes = 0 }), settings(), []string{
			"2 clients: Codex, Claude Code", "its clients stay attached when it is ended, and the next request starts it again",
			"it is reached over HTTP", "asked: no call runs", "idle since 11:00 at least",
		}},
	} {
		l := newLook(&c.in, &c.r, &monitor.Snapshot{At: noon, AwakeSince: awake[c.name]})
		if got := l.evidence(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}
