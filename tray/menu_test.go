package tray

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/monitor/view"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// serena is a live instance that has been idle for the given time.
func serena(pid int, project string, idle time.Duration, mb uint64) monitor.Instance {
	return monitor.Instance{
		Identity: monitor.Identity{PID: pid, Start: 7}, Kind: monitor.KindSerena, Port: pid + 1, ProjectName: project,
		ProjectRoot: "/home/u/" + project, State: monitor.StateProject, Reason: "its dashboard answers and a project is active",
		DashboardURL: fmt.Sprintf("http://127.0.0.1:%d/dashboard/index.html", pid+1),
		LastActivity: noon.Add(-idle), Busy: ptr(false), RSSBytes: mb * megabyte,
		Recognised: true, Client: &monitor.Client{Name: "Claude Code"},
	}
}

func snapshot(list ...monitor.Instance) *monitor.Snapshot {
	s := &monitor.Snapshot{At: noon}
	for _, in := range list {
		s.Instances = append(s.Instances, &in)
	}
	monitor.Sort(s.Instances)
	return s
}

// generic makes an instance of a server that is not Serena.
func generic(rule string, port int) func(*monitor.Instance) {
	return func(in *monitor.Instance) {
		in.Kind, in.State, in.Port, in.DashboardURL = rule, monitor.StateLive, port, ""
		in.ProjectName, in.ProjectRoot, in.LastActivity, in.Busy = "", "", time.Time{}, nil
	}
}

func with(in monitor.Instance, change func(*monitor.Instance)) monitor.Instance {
	change(&in)
	return in
}

func TestTitles(t *testing.T) {
	alpha := serena(24284, "alpha", 12*time.Minute, 160)
	cases := []struct {
		name   string
		change func(*monitor.Instance)
		want   string
	}{
		{"idle", func(*monitor.Instance) {}, "24284 - alpha · Claude Code · idle 10 min · 150 MB"},
		{"just active", func(in *monitor.Instance) { in.LastActivity = noon.Add(-time.Minute) }, "24284 - alpha · Claude Code · 150 MB"},
		{"busy", func(in *monitor.Instance) { in.Busy = ptr(true) }, "24284 - alpha · Claude Code · busy · 150 MB"},
		{"activity unknown", func(in *monitor.Instance) { in.Busy, in.LastActivity = nil, time.Time{} }, "24284 - alpha · Claude Code · 150 MB"},
		{"memory unknown", func(in *monitor.Instance) { in.RSSBytes = 0 }, "24284 - alpha · Claude Code · idle 10 min"},
		{"suspended", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspended },
			"24284 - alpha · Claude Code · suspended · 150 MB"},
		{"red without a cause", func(in *monitor.Instance) { in.State = monitor.StateZombie }, "24284 - alpha · Claude Code · needs attention · 150 MB"},
		{"no project", func(in *monitor.Instance) { in.State, in.ProjectName = monitor.StateNoProject, "" },
			"24284 - NO PROJECT · Claude Code · idle 10 min · 150 MB"},
		{"starting", func(in *monitor.Instance) { in.State, in.ProjectName, in.Port = monitor.StateStarting, "", 0 },
			"24284 - NO PROJECT · Claude Code · starting · 150 MB"},
		{"parked", func(in *monitor.Instance) { in.State, in.RSSBytes = monitor.StateParked, 0 }, "parked - alpha · Claude Code"},
		{"suspected", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspected },
			"24284 - alpha · suspected orphan · 150 MB"},
		{"another server", generic("github-mcp", 0), "24284 - github-mcp · Claude Code · no dashboard · 150 MB"},
		{"another server with a port", generic("GitHub", 24290), "24284 - GitHub · Claude Code · no dashboard · 150 MB"},
		{"another server without its client", func(in *monitor.Instance) {
			generic("filesystem", 0)(in)
			in.State, in.Cause = monitor.StateZombie, monitor.CauseOrphaned
		}, "24284 - filesystem · orphaned · 150 MB"},
		{"no dashboard", func(in *monitor.Instance) {
			in.State, in.Port, in.DashboardURL, in.LastActivity = monitor.StateLive, 0, "", time.Time{}
		},
			"24284 - alpha · Claude Code · no dashboard · 150 MB"},
		{"hours", func(in *monitor.Instance) { in.LastActivity = noon.Add(-119 * time.Minute) }, "24284 - alpha · Claude Code · idle 1 h · 150 MB"},
		{"days", func(in *monitor.Instance) { in.LastActivity = noon.Add(-71 * time.Hour) }, "24284 - alpha · Claude Code · idle 2 days · 150 MB"},
		{"a clock set back", func(in *monitor.Instance) { in.LastActivity = noon.Add(time.Hour) }, "24284 - alpha · Claude Code · 150 MB"},
		{"long name", func(in *monitor.Instance) { in.ProjectName = "customer-portal-backend-services-monorepo" },
			"24284 - custome…onorepo · Claude Code · idle 10 min · 150 MB"},
		{"wide name", func(in *monitor.Instance) { in.ProjectName = strings.Repeat("漢字", 20) }, "24284 - 漢字漢…漢字漢字 · Claude Code · idle 10 min · 150 MB"},
		{"small", func(in *monitor.Instance) { in.RSSBytes = 13 * megabyte }, "24284 - alpha · Claude Code · idle 10 min · 15 MB"},
		{"very small", func(in *monitor.Instance) { in.RSSBytes = 2 * megabyte }, "24284 - alpha · Claude Code · idle 10 min · under 10 MB"},
		{"gigabytes", func(in *monitor.Instance) { in.RSSBytes = 2_300 * megabyte }, "24284 - alpha · Claude Code · idle 10 min · 2.3 GB"},
		{"will be ended", func(in *monitor.Instance) { in.Plan.ShutdownAt = noon.Add(4 * time.Minute) }, "24284 - alpha · Claude Code · stops at 12:04"},
		{"orphaned, will be ended", func(in *monitor.Instance) {
			in.State, in.Cause, in.ProjectName = monitor.StateZombie, monitor.CauseOrphaned, "customer-portal-backend-services-monorepo"
			in.Plan.ShutdownAt = noon.Add(14 * time.Minute)
		}, "24284 - customer-por…es-monorepo · orphaned · stops at 12:14"},
		{"will be ended, but not soon", func(in *monitor.Instance) { in.Plan.ShutdownAt = noon.Add(15 * time.Minute) },
			"24284 - alpha · Claude Code · idle 10 min · 150 MB"},
		{"kept", func(in *monitor.Instance) { in.Plan.KeptUntil = noon.Add(time.Hour) }, "24284 - alpha · Claude Code · idle 10 min · 150 MB"},
		{"control and bidi", func(in *monitor.Instance) { in.ProjectName = "a\x1b[31m\u202eb\u200b\n\tc" }, "24284 - a[31mb c · Claude Code · idle 10 min · 150 MB"},
	}
	for _, c := range cases {
		got := menuAt(snapshot(with(alpha, c.change)), Extras{}).of(view.Open)[0].Title
		if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
		if w := monitor.Columns(got); w > labelColumns {
			t.Errorf("%s: %d columns wide", c.name, w)
		}
	}
}

func TestEveryStateHasPictures(t *testing.T) {
	for _, s := range []monitor.State{monitor.StateStarting, monitor.StateProject, monitor.StateNoProject, monitor.StateLive, monitor.StateZombie, monitor.StateParked} {
		if len(icons.Item(icons.Mark(s))) == 0 || len(icons.Tray("", icons.Mark(s))) == 0 {
			t.Errorf("%s has none", s)
		}
	}
}

func TestHead(t *testing.T) {
	red := func(in monitor.Instance) monitor.Instance {
		return with(in, func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspended })
	}
	a, b, c := serena(2, "a", 0, 210), serena(3, "b", 0, 210), serena(4, "c", 0, 210)
	cases := []struct {
		snap *monitor.Snapshot
		want string
	}{
		{nil, "Looking for servers"},
		{snapshot(), "No servers yet"},
		{snapshot(a), "1 server, 200 MB"},
		{snapshot(a, b, red(c)), "3 servers, 1 needs attention, 650 MB"},
		{snapshot(a, red(b), red(c)), "3 servers, 2 need attention, 650 MB"},
		{snapshot(with(a, func(in *monitor.Instance) { in.RSSBytes = 0 })), "1 server"},
	}
	for _, c := range cases {
		if got := menuAt(c.snap, Extras{}).line("head").Title; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestMenuOf(t *testing.T) {
	alpha, beta := serena(24284, "alpha", 12*time.Minute, 160), with(serena(24285, "beta", 0, 100), func(in *monitor.Instance) { in.Pinned = true })
	full := snapshot(alpha, beta)
	full.Recent = []monitor.Event{event(monitor.EventStarted, alpha, time.Minute, ""), event(monitor.EventStopped, serena(2, "old", 0, 0), time.Hour, "")}
	full.Policy = monitor.Policy{Active: true, Idle: 1, Rules: rules()}
	full.Warnings = []string{"settings:\x1b[2J line 3 is not understood", "b", "c"}
	all := Extras{
		Version: "1.2.3", AtLogin: true, CanSwitch: true, GivenBack: 1_000_000_000, GivenSince: noon,
		Workspaces: []Workspace{{ID: "w", Job: "notes", Project: "alpha", CreatedAt: noon}},
	}
	first := all
	first.GivenBack = 0
	for _, c := range []struct {
		name string
		snap *monitor.Snapshot
		opts Extras
		want string
	}{
		{"before the first look", nil, first, `Looking for servers -> open global
-
Open global dashboard -> open global
Workspaces: 1
  notes · alpha · since 12:00 -> open global
-
[x] Start at login -> switch login
About Lamplighter 1.2.3 (grey)
Quit Lamplighter (servers go on) -> quit
`},
		{"one server", snapshot(alpha), Extras{Version: "1.2.3"}, `1 server, 150 MB -> open global
24284 - alpha · Claude Code · idle 10 min · 150 MB -> open
-
Open global dashboard -> open global
Keep
  For 1 h: (grey)
  24284 - alpha · Claude Code -> keep
  Until unpinned: (grey)
  [ ] 24284 - alpha · Claude Code -> pin
-
Stop
  24284 - alpha · idle 10 min · client Claude Code · 150 MB -> stop
[ ] Start at login (grey) -> switch login
About Lamplighter 1.2.3 (grey)
Quit Lamplighter (servers go on) -> quit
`},
		{"no servers", snapshot(), Extras{Version: "1.2.3"}, `No servers yet -> open global
Start your assistant, and its servers appear here (grey)
-
Open global dashboard -> open global
-
[ ] Start at login (grey) -> switch login
About Lamplighter 1.2.3 (grey)
Quit Lamplighter (servers go on) -> quit
`},
		{"everything", full, all, `2 servers, 250 MB -> open global
24284 - alpha · Claude Code · idle 10 min · 150 MB -> open
24285 - beta · Claude Code · 100 MB -> open
-
Open global dashboard -> open global
Recent
  11:59 started: 24284 - alpha -> open
  11:00 stopped: 2 - old
Workspaces: 1
  notes · alpha · since 12:00 -> open global
Keep
  For 1 h: (grey)
  24284 - alpha · Claude Code -> keep
  24285 - beta · Claude Code · pinned -> keep
  Until unpinned: (grey)
  [ ] 24284 - alpha · Claude Code -> pin
  [x] 24285 - beta · Claude Code -> pin
Policies
  Pause for 1 h -> pause for 1 h
  Pause for today -> pause for today
  Pause until resumed -> pause
  -
  [x] End orphaned servers after 10 min -> switch
  [ ] End idle servers (grey) -> switch
  [ ] Tell of servers over 2 GB -> switch
  [x] Idle servers: never end -> set idle
  [ ] Idle servers: end after 10 min -> set idle
  [ ] Idle servers: end after 30 min -> set idle
  [ ] Idle servers: end after 1 h -> set idle
  [ ] Idle servers: also with a client connected (grey) -> set idle
1.0 GB given back this week -> open global
settings:[2J line 3 is not understood
b
-
Stop
  Stop 1 idle -> stop all
  24284 - alpha · idle 10 min · client Claude Code · 150 MB -> stop
  24285 - beta · pinned · client Claude Code · 100 MB -> stop
[x] Start at login -> switch login
About Lamplighter 1.2.3 (grey)
Quit Lamplighter (servers go on) -> quit
`},
	} {
		// A separator in a submenu that is hidden is not seen.
		got := strings.Replace(drawn(menuAt(c.snap, c.opts)), "\n  -\n-\n", "\n-\n", 1)
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	var list []monitor.Instance
	for i := range 300 {
		list = append(list, serena(24282+i, "p", 0, 10))
	}
	m := menuAt(snapshot(list...), Extras{})
	if n, more := len(m.of(view.Open)), m.line("more").Title; n != listLines || more != "and 285 more: lamplighter status" {
		t.Errorf("%d entries, more %q", n, more)
	}
	if m = menuAt(snapshot(list[:listLines+1]...), Extras{}); len(m.of(view.Open)) != listLines+1 {
		t.Errorf("one that finds the room of that line: %d entries", len(m.of(view.Open)))
	}
}

func TestEscape(t *testing.T) {
	for goos, want := range map[string]string{"linux": "a__b&c", "freebsd": "a__b&c", "windows": "a_b&&c", "darwin": "a_b&c"} {
		if got := escape(goos, "a_b&c"); got != want {
			t.Errorf("%s: %q, want %q", goos, got, want)
		}
	}
}

func TestMemoryKeepsStillUntilItClearlyMoved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown := 0
		for _, mb := range rapid.SliceOf(rapid.Uint64Range(1, 5000)).Draw(t, "MB") {
			next := quantise(mb*megabyte, shown)
			off := max(int(mb)-next, next-int(mb))
			if next == underLeast {
				off = 0
			}
			if (next == underLeast) != (mb < leastMemory && off == 0) || next != underLeast && next%memoryStep(next) != 0 || 5*off > int(mb) && off > 4 {
				t.Fatalf("%d MB shown as %d", mb, next)
			}
			if again := quantise(mb*megabyte, next); again != next {
				t.Fatalf("%d MB shown as %d, then %d", mb, next, again)
			}
			// What goes up and down a little changes it once.
			up := quantise((mb+mb/20)*megabyte, next)
			if down := quantise(mb*megabyte, up); down != up {
				t.Fatalf("%d MB shown as %d, then %d and %d", mb, next, up, down)
			}
			shown = next
		}
	})
}

// FuzzTitle: whatever a project is called, its line stays one printable line
// of bounded size.
func FuzzTitle(f *testing.F) {
	for _, s := range []string{"alpha", "", "a_b&c", "\x1b]0;x\x07", "\u202e\u2066x", "漢字", "\xff\xfe", strings.Repeat("x", 4096), strings.Repeat("\u0301", 99)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		used := with(serena(24284, name, time.Hour, 1234), func(in *monitor.Instance) { in.Client.Name = name })
		used.Plan = monitor.Plan{ShutdownAt: noon.Add(14 * time.Minute), Reason: name}
		m := menuAt(snapshot(used), Extras{Version: name})
		for _, l := range slices.Concat(m.of(view.Open), m.of(view.Stop), m.of(view.Keep), m.of(view.Pin)) {
			for _, s := range []string{l.Title, l.Ended} {
				if !utf8.ValidString(s) || len(s) > 1000 || monitor.Columns(s) > stopColumns {
					t.Errorf("title %q: %d bytes, %d columns", s, len(s), monitor.Columns(s))
				}
				if !strings.HasPrefix(s, "24284 - ") {
					t.Errorf("title %q hides the port", s)
				}
				for _, r := range s {
					if monitor.Unprintable(r) {
						t.Errorf("title %q has %U", s, r)
					}
				}
			}
		}
	})
}

// A shared server says how many share it, and who where there is room; the first
// line says what sharing saves.
func TestSharedServers(t *testing.T) {
	clients := []monitor.Client{{Name: "Claude Code"}, {Name: "Codex"}, {Name: "Claude Code"}}
	shared := with(serena(24284, "alpha", 0, 108), func(in *monitor.Instance) {
		in.Managed, in.Sharing = true, &monitor.Sharing{Clients: clients, SavedBytes: 216 * megabyte}
	})
	parked := with(serena(1, "beta", 0, 0), func(in *monitor.Instance) {
		in.State, in.Managed, in.Reason = monitor.StateParked, true, "no request for 10 min; wakes at the next request"
		in.Sharing = &monitor.Sharing{Clients: clients[:1], SavedBytes: 108 * megabyte}
	})
	m := menuAt(snapshot(shared, parked), Extras{})
	if want := "2 servers, 1 parked, 100 MB, sharing saves 300 MB"; m.line("head").Title != want {
		t.Errorf("%q, want %q", m.line("head").Title, want)
	}
	if want := "24284 - alpha · 3 clients · 100 MB | parked - beta · Claude Code"; titles(m.of(view.Open)) != want {
		t.Errorf("%q, want %q", titles(m.of(view.Open)), want)
	}
	if want := "24284 - alpha · 3 clients: Claude Code ×2, Codex · 100 MB"; titles(m.of(view.Stop)) != want {
		t.Errorf("%q, want %q", titles(m.of(view.Stop)), want)
	}
	if want := "24284 - alpha · 3 clients: Claude Code ×2, Codex"; titles(m.of(view.Restart)) != want {
		t.Errorf("%q, want %q", titles(m.of(view.Restart)), want)
	}
}

// Quit says what becomes of the servers.
func TestQuit(t *testing.T) {
	found, session := monitor.Instance{}, monitor.Instance{Managed: true, Lifetime: monitor.LifetimeSession}
	shared := monitor.Instance{Managed: true, Lifetime: monitor.LifetimeShared}
	used, parked := shared, shared
	used.Sharing, parked.Sharing, parked.State = &monitor.Sharing{}, &monitor.Sharing{}, monitor.StateParked
	for want, servers := range map[string][]monitor.Instance{
		"Quit Lamplighter (servers go on)":                                                    {found, shared},
		"Quit Lamplighter (1 session ends)":                                                   {session},
		"Quit Lamplighter (2 sessions end)":                                                   {session, session},
		"Quit Lamplighter (1 shared server is parked)":                                        {used, parked},
		"Quit Lamplighter (1 session ends, 2 shared servers are parked, other servers go on)": {session, used, used, found},
		"Quit Lamplighter (1 session ends, other servers go on)":                              {found, session},
		"Quit Lamplighter (2 sessions end, other servers go on)":                              {session, shared, session},
	} {
		if got := menuAt(snapshot(servers...), Extras{}).line("quit").Title; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Beyond a dozen the servers stand below their clients, with totals, in no more lines.
func TestMenuInGroups(t *testing.T) {
	of := func(pid int, client string) monitor.Instance {
		return monitor.Instance{
			Identity: monitor.Identity{PID: pid, Start: 1}, Kind: "memory", State: monitor.StateLive, Recognised: true, RSSBytes: 100 << 20,
			Client: &monitor.Client{Identity: monitor.Identity{PID: 1}, Name: client},
		}
	}
	snap := &monitor.Snapshot{At: noon}
	for pid := 10; pid < 30; pid++ {
		snap.Instances = append(snap.Instances, new(of(pid, []string{"Codex", "Claude Code"}[pid%2])))
	}
	m, _ := menuOf(snap, noon, Extras{}, nil, nil)
	var shown []string
	for _, l := range m {
		if strings.HasPrefix(l.Key, "client ") || strings.HasPrefix(l.Key, "open ") || l.Key == "more" {
			title, _, _ := strings.Cut(l.Title, " · ")
			shown = append(shown, title)
		}
	}
	if want := []string{
		"Codex: 10 servers, 1.0 GB", "10 - memory", "12 - memory", "14 - memory", "16 - memory", "18 - memory", "20 - memory", "22 - memory",
		"Claude Code: 10 servers, 1.0 GB", "11 - memory", "13 - memory", "15 - memory", "17 - memory", "19 - memory", "21 - memory", "and 7 more: lamplighter status",
	}; !slices.Equal(shown, want) {
		t.Errorf("%q", shown)
	}
	// The heading names the client, and where there is none each line does; so does Stop, which has none.
	open, stop := m.line("open 10-1").Title, m.line("stop 10-1").Title
	if open != "10 - memory · no dashboard · 100 MB" || stop != "10 - memory · client Codex · 100 MB" {
		t.Errorf("below a heading %q, under Stop %q", open, stop)
	}
	snap.Instances = snap.Instances[:ungrouped]
	m, _ = menuOf(snap, noon, Extras{}, nil, nil)
	if open = m.line("open 10-1").Title; m.line("client Codex").Title != "" || open != "10 - memory · Codex · no dashboard · 100 MB" {
		t.Errorf("a dozen is grouped, or does not name its clients: %q", open)
	}
}
