package tray

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"

	"pgregory.net/rapid"
)

var eventKinds = []monitor.EventKind{
	monitor.EventFound, monitor.EventStarted, monitor.EventStopped, monitor.EventProjectActivated, monitor.EventZombieDetected,
	monitor.EventHeartbeatRestored, monitor.EventPruned, monitor.EventStopOrdered, monitor.EventStopRefused, monitor.EventAsked,
	monitor.EventTerminated, monitor.EventForceKilled, monitor.EventStopFailed, monitor.EventEnded,
}

// event is one that happened the given time before noon.
func event(k monitor.EventKind, in monitor.Instance, before time.Duration, detail string) monitor.Event {
	return monitor.Event{At: noon.Add(-before), Kind: k, ID: in.ID(), PID: in.Identity.PID, Label: in.Label(), Detail: detail}
}

// genEvents draws up to ten events about list and one other instance,
// newest first.
func genEvents(t *rapid.T, list []*monitor.Instance) []monitor.Event {
	about := append(slices.Clone(list), new(serena(5000, "gone", 0, 0)))
	var events []monitor.Event
	for _, s := range rapid.SliceOfNDistinct(rapid.Int64Range(0, 200_000), 0, monitor.RecentEvents, rapid.ID[int64]).Draw(t, "events s") {
		in := about[rapid.IntRange(0, len(about)-1).Draw(t, "about")]
		events = append(events, event(rapid.SampledFrom(eventKinds).Draw(t, "kind"), *in, time.Duration(s)*time.Second, "by Claude Code"))
	}
	slices.SortFunc(events, func(a, b monitor.Event) int { return b.At.Compare(a.At) })
	return events
}

func TestRecentLines(t *testing.T) {
	alpha := serena(24284, "alpha", 0, 0)
	long := serena(24285, strings.Repeat("customer-portal-", 4)+"end", 0, 0)
	for _, c := range []struct {
		e    monitor.Event
		want string
	}{
		{event(monitor.EventStarted, alpha, 78*time.Minute, "by Claude Code"), "10:42 started: 24284 - alpha by Claude Code"},
		{event(monitor.EventStarted, alpha, 0, ""), "12:00 started: 24284 - alpha"},
		{event(monitor.EventStopped, alpha, 12*time.Hour, "ran 2 h"), "00:00 stopped: 24284 - alpha · ran 2 h"},
		{event(monitor.EventStopped, alpha, 12*time.Hour+1, "ran 2 h"), "28 Feb 23:59 stopped: 24284 - alpha · ran 2 h"},
		{event(monitor.EventStopped, alpha, -12*time.Hour, ""), "2 Mar 00:00 stopped: 24284 - alpha"},
		{event(monitor.EventProjectActivated, alpha, 0, "/home/u/alpha"), "12:00 project activated: 24284 - alpha · /home/u/alpha"},
		{event(monitor.EventZombieDetected, alpha, 0, "unreachable: it is alive, but its dashboard does not answer"),
			"12:00 needs attention: 24284 - alpha · unreachable"},
		{event(monitor.EventStopRefused, alpha, 0, "it answered a call 2 min ago"), "12:00 not ended: 24284 - alpha answered a call 2 min ago"},
		{event(monitor.EventStopRefused, alpha, 0, "somebody other than us is connected to its port"),
			"12:00 not ended: 24284 - alpha · somebody other than us is connected…"},
		{event(monitor.EventHeartbeatRestored, long, 0, "was unreachable"), "12:00 heartbeat restored: 24285 - customer…omer-portal-end"},
		{event(monitor.EventStarted, alpha, 0, "by \x1b[31m\u202eevil\nname"), "12:00 started: 24284 - alpha by [31mevil name"},
		{monitor.Event{At: noon, Kind: "new\nkind", Label: "\u202ea_b"}, "12:00 new kind: a_b"},
	} {
		snap := snapshot(alpha, long)
		snap.Recent = []monitor.Event{c.e}
		got := menuAt(snap, Extras{}).under("recent")
		if len(got) != 1 || got[0].Title != c.want {
			t.Errorf("got %+v, want %q", got, c.want)
		}
		if w := monitor.Columns(c.want); w > recentColumns {
			t.Errorf("%q is %d columns wide", c.want, w)
		}
	}
	east := time.FixedZone("east", 3*3600)
	snap := snapshot(alpha)
	snap.Recent = []monitor.Event{event(monitor.EventStarted, alpha, 15*time.Hour, "")}
	if m, _ := menuOf(snap, noon.In(east), Extras{}, nil, nil); titles(m.under("recent")) != "00:00 started: 24284 - alpha" {
		t.Errorf("in another zone: %q", titles(m.under("recent")))
	}
}

func TestRecentOpensWhatLives(t *testing.T) {
	alpha, other, gone := serena(2, "alpha", 0, 0), with(serena(3, "", 0, 0), generic("GitHub", 0)), serena(4, "gone", 0, 0)
	snap := snapshot(alpha, other)
	for _, in := range []monitor.Instance{alpha, other, gone} {
		snap.Recent = append(snap.Recent, event(monitor.EventStarted, in, 0, ""))
	}
	var opens []string
	for _, l := range menuAt(snap, Extras{}).under("recent") {
		opens = append(opens, string(l.Action.ID))
	}
	if want := []string{alpha.ID(), other.ID(), ""}; !slices.Equal(opens, want) {
		t.Errorf("opens %q, want %q", opens, want)
	}
}

func TestWhatIsSaidOfAnOrderToStop(t *testing.T) {
	alpha, beta := serena(24284, "alpha", 0, 0), serena(24285, "beta", 0, 0)
	const entry, ending = "24284 - alpha · Claude Code", "24284 - alpha · Claude Code · ending…"
	const refused = "Not ended: 24284 - alpha · a call is under way"
	no := event(monitor.EventStopRefused, alpha, 5*time.Minute, "a call is under way")
	for _, c := range []struct {
		name    string
		recent  []monitor.Event // newest first
		entry   string
		warning string
	}{
		{"nothing", nil, entry, ""},
		{"ordered", []monitor.Event{event(monitor.EventStopOrdered, alpha, time.Second, "by the menu")}, ending, ""},
		{"killed", []monitor.Event{event(monitor.EventForceKilled, alpha, 0, ""), event(monitor.EventStopOrdered, alpha, time.Second, "")}, ending, ""},
		{"ordered, and never heard of again", []monitor.Event{event(monitor.EventStopOrdered, alpha, endingTold, "")}, entry, ""},
		{"another is ending", []monitor.Event{event(monitor.EventStopOrdered, beta, 0, "")}, entry, ""},
		{"refused", []monitor.Event{no}, entry, refused},
		{"refused long ago", []monitor.Event{event(monitor.EventStopRefused, alpha, refusedTold, "")}, entry, ""},
		{"refused, something else since", []monitor.Event{event(monitor.EventHeartbeatRestored, alpha, 0, ""), no}, entry, refused},
		{"refused, another started since", []monitor.Event{event(monitor.EventStarted, beta, 0, ""), no}, entry, refused},
		{"refused, ordered again", []monitor.Event{event(monitor.EventStopOrdered, alpha, 0, ""), no}, ending, ""},
		{"refused, stopped by itself", []monitor.Event{event(monitor.EventStopped, alpha, 0, ""), no}, entry, ""},
		{"ended while the clock was ahead", []monitor.Event{event(monitor.EventEnded, alpha, -time.Hour, "")}, entry, ""},
		{"failed", []monitor.Event{event(monitor.EventStopFailed, alpha, 0, "pid 7 still runs"), event(monitor.EventTerminated, alpha, time.Second, "")},
			entry, "Stop failed: 24284 - alpha · pid 7 still runs"},
	} {
		snap := snapshot(alpha)
		snap.Recent = c.recent
		snap.Warnings = []string{"a", "b"}
		m := menuAt(snap, Extras{})
		want := c.warning + " | a"
		if c.warning == "" {
			want = "a | b"
		}
		if entry, warnings := titles(m.of(view.Open)), titles(m.of("warning")); entry != c.entry || warnings != want {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, entry, warnings, c.entry, want)
		}
		if !slices.Equal(snap.Warnings, []string{"a", "b"}) {
			t.Errorf("%s: the snapshot was changed", c.name)
		}
	}
}

// TestRefusalsKeepTheirReason: each refusal that there is, about an instance
// with a long name, says why in its line and what to do in the next.
func TestRefusalsKeepTheirReason(t *testing.T) {
	long := serena(24284, "customer-portal-backend-services", 0, 0)
	python := []stop.Process{{PID: 4711, Name: "python3.13"}, {PID: 4712, Name: "node"}}
	anyway := "To end it anyway: lamplighter stop --force " + strconv.Itoa(long.Identity.PID)
	for _, c := range []struct {
		facts   stop.Facts
		why     string
		instead string
	}{
		{stop.Facts{}, "24284 - custo…end-services is not known to be an MCP server", "Add a rule for it to the settings if it is one"},
		{stop.Facts{Recognised: true, Ours: python}, "24284 - cus…nd-services runs python3.13 (4711), node (4712)", ""},
		{stop.Facts{Recognised: true, Above: python[1:]}, "24284 - customer…ackend-services runs node (4712)", "Ask from elsewhere"},
		{stop.Facts{Recognised: true, Foreign: python[:1]}, "24284 - cu…-services has a process of another user: python…", "That user has to end it first"},
		{stop.Facts{Recognised: true, Pinned: true}, "24284 - customer…ackend-services is pinned", anyway},
		{stop.Facts{Recognised: true, Service: "serena.service"}, "24284 - cu…-services is managed by the service serena.serv…", anyway},
		{stop.Facts{Recognised: true, Users: python[:1]}, "24284 - custom…kend-services is in use by python3.13 (4711)", anyway},
		{stop.Facts{Recognised: true, Users: slices.Repeat(python, 9)}, "24284 - cu…-services is in use by python3.13 (4711), node…", anyway},
		{stop.Facts{Recognised: true, Work: stop.Busy, Call: "find_symbol"}, "24284 - customer…ackend-services is at work on find_symbol", anyway},
		{stop.Facts{Recognised: true, Work: stop.Busy}, "24284 - customer…ackend-services is at work", anyway},
		{stop.Facts{Recognised: true, Uncertain: errors.New("listing the connections: permission denied")},
			"24284 - cu…-services may be in use: listing the connection…", anyway},
		{stop.Facts{Recognised: true, Work: stop.Silent}, "24284 - cust…nd-services does not say whether it is at work", anyway},
	} {
		c.facts.Label = long.Label()
		refusal := stop.Check(c.facts, stop.Order{})
		snap := snapshot(long)
		snap.Recent = []monitor.Event{event(monitor.EventStopRefused, long, 0, refusal.Why)}
		got := titles(menuAt(snap, Extras{}).of("warning"))
		want := "Not ended: " + c.why
		if c.instead != "" {
			want += " | " + c.instead
		}
		if got != want {
			t.Errorf("%v:\n got %q\nwant %q", refusal.Kind, got, want)
		}
		if refusal.Forceable() != strings.HasSuffix(got, anyway) {
			t.Errorf("%v: forceable %v, but %q", refusal.Kind, refusal.Forceable(), got)
		}
	}
}

func TestWhatCanBeStopped(t *testing.T) {
	alpha := serena(24284, "alpha", 12*time.Minute, 160)
	for _, c := range []struct {
		name   string
		change func(*monitor.Instance)
		want   string // empty: not offered
	}{
		{"idle", func(*monitor.Instance) {}, "24284 - alpha · idle 10 min · client Claude Code · 150 MB"},
		{"busy", func(in *monitor.Instance) { in.Busy = ptr(true) }, "24284 - alpha · busy · client Claude Code · 150 MB"},
		{"no client known", func(in *monitor.Instance) { in.Client = nil }, "24284 - alpha · idle 10 min · 150 MB"},
		{"pinned", func(in *monitor.Instance) { in.Pinned = true }, "24284 - alpha · idle 10 min · pinned · client Claude Code · 150 MB"},
		{"orphaned", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseOrphaned }, "24284 - alpha · orphaned · 150 MB"},
		{"suspected", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspected }, "24284 - alpha · suspected orphan · 150 MB"},
		{"suspended", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseSuspended },
			"24284 - alpha · suspended · client Claude Code · 150 MB"},
		{"defunct", func(in *monitor.Instance) { in.State, in.Cause = monitor.StateZombie, monitor.CauseDefunct }, ""},
		{"parked", func(in *monitor.Instance) { in.State = monitor.StateParked }, ""},
		{"registered only", func(in *monitor.Instance) { in.Recognised = false }, ""},
		{"managed", func(in *monitor.Instance) { in.Managed, in.Client.Name = true, "curl" }, "24284 - alpha · idle 10 min · managed, for curl · 150 MB"},
		{"managed, nobody knows for whom", func(in *monitor.Instance) { in.Managed, in.Client = true, nil }, "24284 - alpha · idle 10 min · managed · 150 MB"},
		{"another server", generic("GitHub", 0), "24284 - GitHub · client Claude Code · 150 MB"},
		{"long names", func(in *monitor.Instance) {
			in.ProjectName, in.Client.Name = "customer-portal-backend-services", "an assistant with a long name"
		}, "24284 - custome…ervices · idle 10 min · client an assi…g name · 150 MB"},
	} {
		in := with(alpha, func(in *monitor.Instance) { in.Client = &monitor.Client{Name: "Claude Code"} })
		if got := titles(menuAt(snapshot(with(in, c.change)), Extras{}).of(view.Stop)); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestStopHasRoomForSome(t *testing.T) {
	var list []monitor.Instance
	for i := range 120 {
		list = append(list, with(serena(24282+i, "p", 0, 10), func(in *monitor.Instance) { in.Recognised = i%2 == 0 || i > 90 }))
	}
	m := menuAt(snapshot(list...), Extras{})
	stops, more := m.of(view.Stop), m.line("more to stop").Title
	if len(stops) != listLines || more != "and 60 more: lamplighter stop" {
		t.Errorf("%d entries, more %q", len(stops), more)
	}
	for i, l := range stops {
		if string(l.Action.ID) != list[2*i].ID() { // which snapshot has sorted
			t.Fatalf("line %d under Stop is %q", i, l.Title)
		}
	}
}
