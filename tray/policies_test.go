package tray

import (
	"reflect"
	"slices"
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
		p.PausedUntil = noon.Add(time.Duration(rapid.Int64Range(-50, 50).Draw(t, "hours")) * time.Hour)
	}
	return p
}

func TestPolicyLines(t *testing.T) {
	active := monitor.Policy{Active: true, Rules: rules()}
	paused := func(d time.Duration) monitor.Policy {
		return monitor.Policy{Active: true, Paused: true, PausedUntil: noon.Add(d), Rules: rules()}
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
		got := buildMenu(snap, noon, menuOptions{Policies: true}).Policies
		if got.Title != c.want || got.Paused != c.policy.Paused {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got := buildMenu(snap, noon, menuOptions{Stop: true}).Policies; got.Title != "" {
			t.Errorf("%s: offered what nobody can do", c.name)
		}
	}
	want := []ruleLine{
		{"orphans", "End orphaned servers after 10 min", true, true},
		{"idle", "End idle servers", false, false},
		{"memory", "Tell of servers over 2 GB", false, true},
	}
	if got := policyLines(active, noon).Rules; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	many := monitor.Policy{Rules: slices.Repeat(rules(), 9)}
	if n := len(policyLines(many, noon).Rules); n != ruleLines {
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
		m := buildMenu(snapshot(), noon, menuOptions{GivenBack: c.bytes, GivenSince: noon.Add(-c.ago)})
		if m.GivenBack != c.want {
			t.Errorf("got %q, want %q", m.GivenBack, c.want)
		}
	}
	if got := givenWords(1e9, time.Time{}, noon); got != "1.0 GB given back" {
		t.Errorf("got %q", got)
	}
}

func TestStopAllOfAKind(t *testing.T) {
	snap := snapshot(serena(1, "alpha", 0, 0))
	snap.Policy = monitor.Policy{Idle: 2, Orphans: 1}
	want := []stopGroup{{What: "orphans", Title: "Stop 1 orphaned"}, {What: "idle", Title: "Stop 2 idle"}}
	shown := buildMenu(snap, noon, menuOptions{Policies: true})
	if !reflect.DeepEqual(shown.StopAll, want) {
		t.Errorf("got %+v, want %+v", shown.StopAll, want)
	}
	if got := buildMenu(snap, noon, menuOptions{Stop: true}).StopAll; got != nil {
		t.Errorf("offered what nobody can do: %+v", got)
	}
	snap.Policy = monitor.Policy{Idle: 3}
	want[0].Ended, want[1].Title = true, "Stop 3 idle"
	if got := hold(shown, buildMenu(snap, noon, menuOptions{Policies: true})).StopAll; !reflect.DeepEqual(got, want) {
		t.Errorf("held: got %+v, want %+v", got, want)
	}
}

func TestHeldPolicies(t *testing.T) {
	menu := func(p monitor.Policy) menu {
		snap := snapshot()
		snap.Policy = p
		return buildMenu(snap, noon, menuOptions{Policies: true})
	}
	shown := menu(monitor.Policy{Active: true, Rules: rules()[:2]})
	next := rules()
	next[0].On = false
	held := hold(shown, menu(monitor.Policy{Active: true, Paused: true, Rules: next[:1]})).Policies
	if held.Title != "Policies (paused until resumed)" || held.Paused || len(held.Rules) != 2 || held.Rules[0].On || held.Rules[1].Set {
		t.Errorf("%+v", held)
	}
	if held := hold(shown, menu(monitor.Policy{})).Policies; held.Title != "Policies" || held.Rules[0].Set {
		t.Errorf("%+v", held)
	}
}

func TestClicksOnThePolicies(t *testing.T) {
	o, c, now := drawer(t)
	orders := o.actions.(clicked)
	o.policies = orders
	alpha, beta := serena(1, "alpha", 0, 0), serena(2, "beta", 0, 0)
	beta.Pinned = true
	see := func(p monitor.Policy, list ...monitor.Instance) {
		t.Helper()
		snap := snapshot(list...)
		snap.Policy = p
		o.see(t, snap)
	}
	click := func(when string, slot int, want string) {
		t.Helper()
		o.click(slot)
		if want == "" {
			o.click(slotQuit) // so that there is something to wait for
			want = "quit"
		}
		if got := <-orders; got != want {
			t.Errorf("%s: ordered %q, want %q", when, got, want)
		}
		if len(orders) > 0 {
			t.Errorf("%s: ordered more: %q", when, <-orders)
		}
	}
	active := monitor.Policy{Active: true, Rules: rules(), Idle: 1, Orphans: 1}
	see(active, alpha, beta)
	keep := func(id string) int { return slotKeepFirst + slices.Index(o.shown.placed.keeps, id) }
	pin := func(id string) int { return slotPinFirst + slices.Index(o.shown.placed.pins, id) }
	for _, slot := range []int{slotStopOrphans, slotStopIdle, keep("2-7"), pin("2-7")} {
		click("at once", slot, "")
	}
	*now = now.Add(settleTime)
	for slot, want := range map[int]string{
		slotStopOrphans: "stop all orphans", slotStopIdle: "stop all idle",
		keep("2-7"): "keep 2-7", pin("2-7"): "pin 2-7 true", pin("3-7"): "pin 3-7 false",
		keep("2-7") + 1: "", pin("2-7") + 1: "", slotKeepHead: "", slotPinHead: "", slotKeep: "", slotPolicies: "",
		slotKeepMore: "global", slotGiven: "global",
		slotPauseShort: "pause 2026-03-01T13:00:01Z", slotPauseToday: "pause 2026-03-02T00:00:00Z", slotPauseOpen: "pause 0001-01-01T00:00:00Z",
		slotResume: "", slotRuleFirst: "switch orphans false", slotRuleFirst + 1: "", slotRuleFirst + 2: "switch memory true", slotRuleFirst + 3: "",
	} {
		click(o.shown.slots[slot].Title, slot, want)
	}
	if got := c.under(slotPolicies); got != "Pause for 1 h | Pause for today | Pause until resumed | End orphaned servers after 10 min | End idle servers | Tell of servers over 2 GB" {
		t.Errorf("shows %s", got)
	}
	if got := c.under(slotKeep); got != "For 1 h: | 1 - alpha | 2 - beta · pinned | Until unpinned: | 1 - alpha | 2 - beta" {
		t.Errorf("shows %s", got)
	}

	// What an order for all of a kind means must not grow under the pointer.
	active.Idle, active.Paused = 2, true
	see(active, alpha, beta)
	click("more are idle", slotStopIdle, "")
	click("paused", slotPauseShort, "")
	click("paused", slotResume, "resume")
	*now = now.Add(settleTime)
	click("settled", slotStopIdle, "stop all idle")

	// While the menu is open a kind that has gone stays, and is no order.
	if err := o.menuEvent(menuOpened); err != nil {
		t.Fatal(err)
	}
	see(monitor.Policy{Active: true, Rules: rules()}, alpha)
	*now = now.Add(settleTime)
	click("none is left", slotStopIdle, "")
	click("ended", keep("3-7"), "")
	click("held", slotResume, "resume")
}

func TestNoPoliciesNoLines(t *testing.T) {
	o, c, now := drawer(t)
	snap := snapshot(serena(1, "alpha", 0, 0))
	snap.Policy = monitor.Policy{Active: true, Rules: rules(), Idle: 1}
	o.see(t, snap)
	*now = now.Add(settleTime)
	for slot := slotKeepHead; slot < slotStopFirst; slot++ {
		if c.shown[slot].Visible {
			t.Errorf("shows %q", c.shown[slot].Title)
		}
		o.click(slot)
	}
	if c.shown[slotKeep].Visible || c.shown[slotPolicies].Visible {
		t.Error("shows an empty submenu")
	}
}
