package tray

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lamplighter/monitor"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// serena is a live instance that has been idle for the given time.
func serena(port int, project string, idle time.Duration, mb uint64) monitor.Instance {
	return monitor.Instance{
		Identity: monitor.Identity{PID: port + 1, Start: 7}, Kind: monitor.KindSerena, Port: port, ProjectName: project,
		ProjectRoot: "/home/u/" + project, State: monitor.StateProject, Reason: "its dashboard answers and a project is active",
		DashboardURL: fmt.Sprintf("http://127.0.0.1:%d/dashboard/index.html", port),
		LastActivity: noon.Add(-idle), Busy: ptr(false), RSSBytes: mb * megabyte,
		Recognised: true, Client: &monitor.Client{Name: "Claude Code"},
	}
}

func snapshot(list ...monitor.Instance) *monitor.Snapshot {
	monitor.Sort(list)
	return &monitor.Snapshot{At: noon, Instances: list}
}

// generic makes an instance of a server that is not Serena.
func generic(rule string, port int) func(*monitor.Instance) {
	return func(in *monitor.Instance) {
		in.Kind, in.State, in.Port, in.DashboardURL = rule, monitor.StateNoProject, port, ""
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
		{"idle", func(*monitor.Instance) {}, "24284 - alpha · idle 10 min · 150 MB"},
		{"just active", func(in *monitor.Instance) { in.LastActivity = noon.Add(-time.Minute) }, "24284 - alpha · 150 MB"},
		{"busy", func(in *monitor.Instance) { in.Busy = ptr(true) }, "24284 - alpha · busy · 150 MB"},
		{"activity unknown", func(in *monitor.Instance) { in.Busy, in.LastActivity = nil, time.Time{} }, "24284 - alpha · 150 MB"},
		{"memory unknown", func(in *monitor.Instance) { in.RSSBytes = 0 }, "24284 - alpha · idle 10 min"},
		{"suspended", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspended },
			"24284 - alpha · suspended · 150 MB"},
		{"red without a cause", func(in *monitor.Instance) { in.State = monitor.StateZombie }, "24284 - alpha · needs attention · 150 MB"},
		{"no project", func(in *monitor.Instance) { in.State, in.ProjectName = monitor.StateNoProject, "" },
			"24284 - NO PROJECT · idle 10 min · 150 MB"},
		{"starting", func(in *monitor.Instance) { in.State, in.ProjectName, in.Port = monitor.StateStarting, "", 0 },
			"pid 24285 - NO PROJECT · starting · 150 MB"},
		{"parked", func(in *monitor.Instance) { in.State, in.RSSBytes = monitor.StateParked, 0 }, "parked - alpha"},
		{"suspected", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspected },
			"24284 - alpha · suspected orphan · 150 MB"},
		{"another server", generic("github-mcp", 0), "pid 24285 - github-mcp · no dashboard · 150 MB"},
		{"another server with a port", generic("GitHub", 24290), "24290 - GitHub · no dashboard · 150 MB"},
		{"another server without its client", func(in *monitor.Instance) {
			generic("filesystem", 0)(in)
			in.State, in.Cause = monitor.StateZombie, monitor.CauseOrphaned
		}, "pid 24285 - filesystem · orphaned · 150 MB"},
		{"no dashboard", func(in *monitor.Instance) {
			in.State, in.Port, in.DashboardURL, in.LastActivity = monitor.StateNoProject, 0, "", time.Time{}
		},
			"pid 24285 - alpha · no dashboard · 150 MB"},
		{"hours", func(in *monitor.Instance) { in.LastActivity = noon.Add(-119 * time.Minute) }, "24284 - alpha · idle 1 h · 150 MB"},
		{"days", func(in *monitor.Instance) { in.LastActivity = noon.Add(-71 * time.Hour) }, "24284 - alpha · idle 2 days · 150 MB"},
		{"a clock set back", func(in *monitor.Instance) { in.LastActivity = noon.Add(time.Hour) }, "24284 - alpha · 150 MB"},
		{"long name", func(in *monitor.Instance) { in.ProjectName = "customer-portal-backend-services-monorepo" },
			"24284 - customer-…-monorepo · idle 10 min · 150 MB"},
		{"wide name", func(in *monitor.Instance) { in.ProjectName = strings.Repeat("漢字", 20) }, "24284 - 漢字漢字…字漢字漢字 · idle 10 min · 150 MB"},
		{"small", func(in *monitor.Instance) { in.RSSBytes = 13 * megabyte }, "24284 - alpha · idle 10 min · 15 MB"},
		{"very small", func(in *monitor.Instance) { in.RSSBytes = 2 * megabyte }, "24284 - alpha · idle 10 min · under 10 MB"},
		{"gigabytes", func(in *monitor.Instance) { in.RSSBytes = 2_300 * megabyte }, "24284 - alpha · idle 10 min · 2.3 GB"},
		{"will be ended", func(in *monitor.Instance) { in.Plan.ShutdownAt = noon.Add(4 * time.Minute) }, "24284 - alpha · ends in 4 min"},
		{"orphaned, will be ended", func(in *monitor.Instance) {
			in.State, in.Cause, in.ProjectName = monitor.StateZombie, monitor.CauseOrphaned, "customer-portal-backend-services-monorepo"
			in.Plan.ShutdownAt = noon.Add(14 * time.Minute)
		}, "24284 - custome…norepo · orphaned · ends in 10 min"},
		{"will be ended, but not soon", func(in *monitor.Instance) { in.Plan.ShutdownAt = noon.Add(15 * time.Minute) },
			"24284 - alpha · idle 10 min · 150 MB"},
		{"kept", func(in *monitor.Instance) { in.Plan.KeptUntil = noon.Add(time.Hour) }, "24284 - alpha · idle 10 min · 150 MB"},
		{"control and bidi", func(in *monitor.Instance) { in.ProjectName = "a\x1b[31m\u202eb\u200b\n\tc" }, "24284 - a[31mb c · idle 10 min · 150 MB"},
	}
	for _, c := range cases {
		m := buildMenu(snapshot(with(alpha, c.change)), noon, menuOptions{})
		if got := m.Instances[0].Title; got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
		if w := monitor.Columns(m.Instances[0].Title); w > labelColumns {
			t.Errorf("%s: %d columns wide", c.name, w)
		}
	}
}

func TestHead(t *testing.T) {
	red := func(in monitor.Instance) monitor.Instance {
		return with(in, func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspended })
	}
	a, b, c := serena(1, "a", 0, 210), serena(2, "b", 0, 210), serena(3, "c", 0, 210)
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
		if got := buildMenu(c.snap, noon, menuOptions{}).Head; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestMenuAroundTheInstances(t *testing.T) {
	snap := snapshot()
	snap.Warnings = []string{"settings:\x1b[2J line 3 is not understood", "b", "c"}
	m := buildMenu(snap, noon, menuOptions{Version: "1.2.3"})
	if m.Hint == "" || m.More != "" || m.Worst != "" {
		t.Errorf("empty menu: %+v", m)
	}
	if want := []string{"settings:[2J line 3 is not understood", "b"}; !reflect.DeepEqual(m.Warnings, want) {
		t.Errorf("warnings %q, want %q", m.Warnings, want)
	}
	if m.About != "About Lamplighter 1.2.3" {
		t.Errorf("about %q", m.About)
	}
	var list []monitor.Instance
	for i := range 300 {
		list = append(list, serena(24282+i, "p", 0, 10))
	}
	m = buildMenu(snapshot(list...), noon, menuOptions{})
	if len(m.Instances) != listLines || m.More != "and 285 more: lamplighter status" || m.Hint != "" {
		t.Errorf("%d entries, more %q, hint %q", len(m.Instances), m.More, m.Hint)
	}
}

func TestTooltipTellsReasonClientAndRoot(t *testing.T) {
	got := buildMenu(snapshot(serena(1, "alpha", 0, 0)), noon, menuOptions{}).Instances[0].Tooltip
	want := "its dashboard answers and a project is active\nstarted by Claude Code\n/home/u/alpha"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	managed := with(serena(1, "alpha", 0, 0), func(in *monitor.Instance) { in.Managed, in.Client.Name = true, "cu\nrl" })
	want = "its dashboard answers and a project is active\nmanaged, for cu rl\n/home/u/alpha"
	if got := buildMenu(snapshot(managed), noon, menuOptions{}).Instances[0].Tooltip; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	plan := func(in *monitor.Instance) {
		in.Plan = monitor.Plan{ShutdownAt: noon.Add(4 * time.Minute), Reason: "no call\nfor 30 min", KeptUntil: noon.Add(time.Hour)}
	}
	want = "its dashboard answers and a project is active\nwill shut down at 12:04, because no call for 30 min\nkept until 13:00\nstarted by Claude Code\n/home/u/alpha"
	if got := buildMenu(snapshot(with(serena(1, "alpha", 0, 0), plan)), noon, menuOptions{}).Instances[0].Tooltip; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	announced := with(serena(1, "alpha", 0, 0), func(in *monitor.Instance) { in.Recognised = false })
	if got := buildMenu(snapshot(announced), noon, menuOptions{}).Instances[0].Tooltip; !strings.Contains(got, "it registered itself, so it is shown, and never ended") {
		t.Errorf("got %q", got)
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
			// What is first shown is at most half a step away.
			wobble := memoryStep(int(mb)) / 6
			for _, near := range []int{int(mb) - wobble, int(mb) + wobble} {
				if shown == 0 && near > leastMemory && next != underLeast && memoryStep(near) == memoryStep(int(mb)) && quantise(uint64(near)*megabyte, next) != next {
					t.Fatalf("%d MB shown as %d, but %d anew", mb, next, near)
				}
			}
			shown = next
		}
	})
}

func TestNothingIsReadDifferentlyBeforeNextChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []monitor.Instance
		for i, idle := range rapid.SliceOfN(rapid.Int64Range(-100, 400_000), 0, 5).Draw(t, "idle s") {
			in := serena(1000+i, "p", time.Duration(idle)*time.Second, 100)
			in.State = rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateZombie, monitor.StateParked}).Draw(t, "state")
			if rapid.Bool().Draw(t, "busy") {
				in.Busy = ptr(true)
			}
			in.Plan = genPlan(t)
			list = append(list, in)
		}
		snap := snapshot(list...)
		snap.Recent, snap.Policy = genEvents(t, list), genPolicy(t)
		menu := func(at time.Time) menu { return buildMenu(snap, at, menuOptions{Stop: true, Policies: true}) }
		next, ok := nextChange(snap, noon)
		if !ok {
			next = 1000 * time.Hour
		}
		before := noon.Add(time.Duration(rapid.Float64Range(0, 1).Draw(t, "part") * float64(next-1)))
		if !reflect.DeepEqual(menu(noon), menu(before)) {
			t.Fatalf("changed after %v, said %v", before.Sub(noon), next)
		}
		future := false // a clock set back is idle for 0 until it has caught up
		for i := range list {
			future = future || list[i].LastActivity.After(noon) && !planned(&list[i], noon)
		}
		if ok && !future && reflect.DeepEqual(menu(noon), menu(noon.Add(next))) {
			t.Fatalf("nothing changed after %v", next)
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
		m := buildMenu(snapshot(used), noon, menuOptions{Version: name, Stop: true, Policies: true})
		for _, s := range []string{
			m.Instances[0].Title, m.Instances[0].ended().Title, m.Stop[0].Title, m.Stop[0].ended().Title, m.Keep[0].Title, m.Pins[0].Title,
		} {
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
	})
}

// A shared server says how many share it, and who where there is room; the first
// line says what sharing saves.
func TestSharedServers(t *testing.T) {
	clients := []monitor.Client{{Name: "Claude Code"}, {Name: "Codex"}, {Name: "Claude Code"}}
	shared := with(serena(24284, "alpha", 0, 108), func(in *monitor.Instance) {
		in.Managed, in.Sharing = true, &monitor.Sharing{Clients: clients, SavedBytes: 216 * megabyte}
	})
	parked := with(serena(0, "beta", 0, 0), func(in *monitor.Instance) {
		in.State, in.Managed, in.Reason = monitor.StateParked, true, "no request for 10 min; wakes at the next request"
		in.Sharing = &monitor.Sharing{Clients: clients[:1], SavedBytes: 108 * megabyte}
	})
	m := buildMenu(snapshot(shared, parked), noon, menuOptions{Stop: true, Policies: true})
	if want := "2 servers, 1 parked, 100 MB, sharing saves 300 MB"; m.Head != want {
		t.Errorf("%q, want %q", m.Head, want)
	}
	titles := map[string]string{}
	for _, e := range m.Instances {
		titles[e.Name] = e.Title
	}
	if want := "24284 - alpha · 3 clients · 100 MB"; titles["alpha"] != want {
		t.Errorf("%q, want %q", titles["alpha"], want)
	}
	if want := "parked - beta · 1 client"; titles["beta"] != want {
		t.Errorf("%q, want %q", titles["beta"], want)
	}
	if len(m.Stop) != 1 || m.Stop[0].Title != "24284 - alpha · 3 clients: Claude Code ×2, Codex · 100 MB" {
		t.Errorf("%+v", m.Stop)
	}
	for _, e := range m.Instances {
		if e.Name == "beta" && e.Tooltip != "no request for 10 min; wakes at the next request\n1 client: Claude Code\nsaves 108 MB\n/home/u/beta" {
			t.Errorf("%q", e.Tooltip)
		}
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
		if got := buildMenu(&monitor.Snapshot{Seq: 1, Instances: servers}, time.Time{}, menuOptions{}).Quit; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := buildMenu(nil, time.Time{}, menuOptions{}).Quit; got != "Quit Lamplighter (servers go on)" {
		t.Errorf("before the first look: %q", got)
	}
}
