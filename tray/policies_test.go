package tray

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"

	"pgregory.net/rapid"
)

// rules are those of a fresh install.
func rules() []monitor.PolicyRule {
	return []monitor.PolicyRule{
		{Name: "orphans", Words: "End orphaned servers after 10 min", On: true, Set: true},
		{Name: "idle", Words: "End idle servers"},
		{Name: "memory", Words: "Tell of servers over 2 GB", Set: true},
	}
}

// genPolicy draws how the policies stand.
func genPolicy(t *rapid.T) monitor.Policy {
	p := monitor.Policy{
		Active: rapid.Bool().Draw(t, "active"), Paused: rapid.Bool().Draw(t, "paused"),
		Idle: rapid.IntRange(0, 2).Draw(t, "idle ones"), Orphans: rapid.IntRange(0, 2).Draw(t, "orphans"),
		Rules: rules()[:rapid.IntRange(0, 3).Draw(t, "rules")],
	}
	if rapid.Bool().Draw(t, "pause ends") {
		p.PausedUntil = new(noon.Add(time.Duration(rapid.Int64Range(-50, 50).Draw(t, "hours")) * time.Hour))
	}
	return p
}

func TestPolicyLines(t *testing.T) {
	active := monitor.Policy{Active: true, Rules: rules()}
	paused := func(d time.Duration) monitor.Policy {
		return monitor.Policy{Active: true, Paused: true, PausedUntil: new(noon.Add(d)), Rules: rules()}
	}
	for _, c := range []struct {
		name   string
		policy monitor.Policy
		want   string // the title
	}{
		{"not heard of yet", monitor.Policy{}, ""},
		{"active", active, "Policies"},
		{"another one acts", monitor.Policy{Rules: rules()}, "Policies (another Lamplighter acts)"},
		{"paused", monitor.Policy{Active: true, Paused: true, Rules: rules()}, "Policies (paused until resumed)"},
		{"paused for an hour", paused(time.Hour), "Policies (paused until 13:00)"},
		{"paused for today", paused(12 * time.Hour), "Policies (paused for today)"},
		{"paused for days", paused(36 * time.Hour), "Policies (paused until 3 Mar 00:00)"},
	} {
		snap := snapshot()
		snap.Policy = c.policy
		m := menuAt(snap, Extras{})
		if got := m.line("policies").Title; got != c.want || (m.line("resume").Title != "") != (c.want != "" && c.policy.Paused) {
			t.Errorf("%s:\n%s", c.name, drawn(m))
		}
	}
	many := snapshot()
	many.Policy.Rules = slices.Repeat(rules(), 9)
	if n := len(menuAt(many, Extras{}).of("rule")); n != ruleLines {
		t.Errorf("%d rules", n)
	}
}

func TestGivenBack(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		bytes uint64
		ago   time.Duration
		want  string
	}{
		{0, day, ""},
		{3_210 * megabyte, 2 * day, "3.2 GB given back this week"},
		{3_210 * megabyte, 7 * day, "3.2 GB given back this week"},
		{161 * megabyte, 20 * day, "150 MB given back since 9 Feb"},
		{1, 0, "under 10 MB given back this week"},
	} {
		m := menuAt(snapshot(), Extras{GivenBack: c.bytes, GivenSince: noon.Add(-c.ago)})
		if got := m.line("given back").Title; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestClicksOnThePolicies(t *testing.T) {
	o, _, now := drawer(t)
	alpha, beta := serena(2, "alpha", 0, 0), serena(3, "beta", 0, 0)
	beta.Pinned = true
	see := func(p monitor.Policy, list ...monitor.Instance) {
		t.Helper()
		snap := snapshot(list...)
		snap.Policy = p
		o.see(t, snap)
	}
	active := monitor.Policy{Active: true, Rules: rules(), Idle: 1, Orphans: 1}
	see(active, alpha, beta)
	for _, key := range []string{"stop all orphans", "stop all idle", "keep 2-7", "pin 2-7"} {
		o.press(t, "at once", key, "")
	}
	*now = now.Add(settleTime)
	for key, want := range map[string]string{
		"stop all orphans": "stop all orphans", "stop all idle": "stop all idle",
		"keep 2-7": "keep 2-7", "pin 2-7": "pin 2-7 true", "pin 3-7": "pin 3-7 false",
		"For 1 h:": "", "Until unpinned:": "", "keep": "", "policies": "", "given back": "",
		"pause for 1 h": "pause 2026-03-01T13:00:01Z", "pause for today": "pause 2026-03-02T00:00:00Z", "pause": "pause 0001-01-01T00:00:00Z",
		"resume": "", "rule orphans": "switch orphans false", "rule idle": "", "rule memory": "switch memory true",
	} {
		o.press(t, key, key, want)
	}
	// What an order for all of a kind means must not grow under the pointer.
	active.Idle, active.Paused = 2, true
	see(active, alpha, beta)
	o.press(t, "more are idle", "stop all idle", "")
	o.press(t, "paused", "pause for 1 h", "")
	o.press(t, "paused", "resume", "resume")
	*now = now.Add(settleTime)
	o.press(t, "settled", "stop all idle", "stop all idle")

	// While the menu is open a kind that has gone stays, and is no order.
	o.tell(t, menuOpened)
	see(monitor.Policy{Active: true, Rules: rules()}, alpha)
	*now = now.Add(settleTime)
	o.press(t, "none is left", "stop all idle", "")
	o.press(t, "ended", "keep 3-7", "")
	o.press(t, "held", "resume", "resume")
}

func TestIdleLines(t *testing.T) {
	for name, c := range map[string]struct {
		rule monitor.PolicyRule
		want []string // those that are shown, each with what it orders
	}{
		"off": {monitor.PolicyRule{Name: "idle"}, []string{
			"[x] never end: 0s false", "[ ] end after 10 min: 10m0s false", "[ ] end after 30 min: 30m0s false", "[ ] end after 1 h: 1h0m0s false", "[ ] also with a client connected: 0s true",
		}},
		"a time of the user's own, with clients": {monitor.PolicyRule{Name: "idle", Minutes: 45, Attached: new(true)}, []string{
			"[ ] never end: 0s false", "[ ] end after 10 min: 10m0s true", "[ ] end after 30 min: 30m0s true", "[ ] end after 1 h: 1h0m0s true", "[x] end after 45 min: 45m0s true", "[x] also with a client connected: 45m0s false",
		}},
		"another rule": {monitor.PolicyRule{Name: "orphans"}, nil},
	} {
		var got []string
		for _, l := range idleLines(monitor.Policy{Rules: []monitor.PolicyRule{c.rule}}) {
			if title, shown := strings.CutPrefix(l.Title, "Idle servers: "); shown {
				got = append(got, fmt.Sprintf("[%s] %s: %v %v", map[bool]string{true: "x", false: " "}[l.Checked], title, l.Action.Order.After, l.Action.Order.On))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
