package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"

	"lamplighter/app/api"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func sample() *monitor.Snapshot {
	calls, cpu, yes := int64(7), 12.4, true
	alpha := daemontest.SerenaAt(101, 24282, "alpha")
	alpha.RSSBytes, alpha.CPUPercent, alpha.ToolCalls, alpha.Context = 108_400_000, &cpu, &calls, "ide"
	alpha.LastActivity = daemontest.Noon.Add(-5 * time.Minute)
	alpha.Client = &monitor.Client{Identity: monitor.Identity{PID: 9}, Name: "Claude Code"}
	wide := daemontest.SerenaAt(2002, 24283, "水の流れ")
	wide.RSSBytes, wide.Busy = 2_340_000_000, &yes
	red := daemontest.SerenaAt(33, 24284, "beta")
	red.State, red.Cause, red.Reason = monitor.StateZombie, monitor.CauseSuspended, "it was stopped by a signal"
	red.Busy, red.LastActivity = &yes, daemontest.Noon.Add(-time.Minute) // as it said before
	list := daemontest.List(alpha, daemontest.SerenaAt(4, 0, ""), red, wide)
	monitor.Sort(list)
	return &monitor.Snapshot{At: daemontest.Noon, Instances: list}
}

func TestTable(t *testing.T) {
	const want = `STATE            SERVER           CLIENT       CONTEXT  MEMORY   CPU   IDLE  CALLS   PORT
needs attention  33 - beta        -            -             -     -      -      -  24284
  suspended: it was stopped by a signal
live             101 - alpha      Claude Code  ide      108 MB  12 %  5 min      7  24282
no project       4 - NO PROJECT   -            -             -     -      -      -      -
live             2002 - 水の流れ  -            -        2.3 GB     -   busy      -  24283
`
	if got := table(api.InstancesOf(sample(), daemontest.Noon), daemontest.Noon, "", screen{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := table(api.InstancesOf(&monitor.Snapshot{}, daemontest.Noon), daemontest.Noon, "", screen{}); got != nothingRuns {
		t.Errorf("got %q", got)
	}
}

// Whatever an instance says about itself, each has one line within the
// screen's width, and nothing in it can disturb the terminal.
func TestTableIsHarmless(t *testing.T) {
	hostile := rapid.StringOf(rapid.SampledFrom([]rune("ab \x00\x1b\a\n\r\t\u009b\u200b\u202e\u2066\ufeff\U000e0041水é🙂👨\u0301%s|")))
	rapid.Check(t, func(t *rapid.T) {
		var list []monitor.Instance
		for i := range rapid.IntRange(1, 4).Draw(t, "instances") {
			in := daemontest.SerenaAt(i+1, 24282+i, hostile.Draw(t, "name"))
			in.Kind = rapid.SampledFrom([]string{monitor.KindSerena, "\x1b[2J", ""}).Draw(t, "kind")
			in.Recognised = rapid.Bool().Draw(t, "recognised")
			in.Context, in.Reason = hostile.Draw(t, "context"), hostile.Draw(t, "reason")
			in.State = rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateZombie, monitor.StateParked, "new"}).Draw(t, "state")
			in.Client = &monitor.Client{Name: hostile.Draw(t, "client")}
			if rapid.Bool().Draw(t, "shared") {
				in.Sharing = &monitor.Sharing{Clients: []monitor.Client{*in.Client, *in.Client}, Alone: hostile.Draw(t, "alone")}
			}
			list = append(list, in)
		}
		snap := &monitor.Snapshot{Instances: daemontest.List(list...)}
		monitor.Sort(snap.Instances)
		width := rapid.SampledFrom([]int{0, 1, narrowest - 1, narrowest, 40, 80, 200}).Draw(t, "width")
		colour := rapid.Bool().Draw(t, "colour")
		got := table(api.InstancesOf(snap, daemontest.Noon), daemontest.Noon, "", screen{width: width, colour: colour})
		want := 1 + len(list)
		for _, s := range view.All(snap) {
			if why(s, daemontest.Noon, true) != "" {
				want++
			}
		}
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) != want {
			t.Fatalf("%d lines, want %d:\n%q", len(lines), want, got)
		}
		for _, line := range lines {
			if n := text.StringWidthWithoutEscSequences(line); width >= narrowest && n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
			for _, r := range text.StripEscape(line) {
				if monitor.Unprintable(r) {
					t.Errorf("%U in %q", r, line)
				}
			}
			if !colour && strings.ContainsRune(line, '\x1b') {
				t.Errorf("an escape sequence in %q", line)
			}
		}
	})
}

func TestTableByClient(t *testing.T) {
	var list []monitor.Instance
	for i, client := range []string{"Codex", "", "Claude Code", "Codex"} {
		in := daemontest.SerenaAt(i+1, 24282+i, fmt.Sprint("p", i))
		in.RSSBytes = 100_000_000
		if client != "" {
			in.Client = &monitor.Client{Identity: monitor.Identity{PID: 90 + i}, Name: client}
		}
		list = append(list, in)
	}
	list = append(list, monitor.Instance{
		Identity: monitor.Identity{PID: 77, Start: 7}, Kind: "cat", OnPipes: true, Client: &monitor.Client{Identity: monitor.Identity{PID: 90}, Name: "Codex"},
	})
	dead := daemontest.SerenaAt(78, 24290, "dead")
	dead.Plan.GivenUpSince = daemontest.Noon
	list = append(list, dead)
	got := table(api.InstancesOf(&monitor.Snapshot{Instances: daemontest.List(list...)}, daemontest.Noon), daemontest.Noon, "client", screen{})
	at := -1
	for _, want := range []string{"STATE", "Claude Code: 1 server, 100 MB\n", "3 - p2", "Codex: 2 servers, 200 MB\n", "1 - p0", "4 - p3", "No known client: 1 server, 100 MB\n", "2 - p1", "Codex has 1 more child on pipes: cat (77)\n", "1 given up: lamplighter stop 78\n"} {
		i := strings.Index(got, want)
		if i <= at {
			t.Fatalf("%q is not in its place:\n%s", want, got)
		}
		at = i
	}
}

func TestOfClient(t *testing.T) {
	s := &monitor.Snapshot{}
	for i, client := range []string{"Codex", "Claude Code", "Claude Code"} {
		in := daemontest.SerenaAt(i+1, 24282+i, "alpha")
		in.Client = &monitor.Client{Identity: monitor.Identity{PID: 90 + i}, Name: client}
		s.Instances = append(s.Instances, &in)
	}
	s.Instances[2].OnPipes = true // nobody knows that it is a server
	for _, name := range []string{"claude-code", "Claude Code", "claudecode"} {
		if part, err := ofClient(view.All(s), name); err != nil || len(part) != 1 || *part[0].PID != 2 {
			t.Errorf("%s: %+v, %v", name, part, err)
		}
	}
	if _, err := ofClient(view.All(s), "zed"); err == nil || err.Error() != `no server has the client "zed"; there are Codex, Claude Code` {
		t.Error(err)
	}
	if _, err := choose(view.All(s), "alpha"); err == nil || !strings.Contains(err.Error(), "1 - alpha (Codex), 2 - alpha (Claude Code)") {
		t.Error(err)
	}
}
