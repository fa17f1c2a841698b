package policies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

func summaries(list []Notice) (found []string) {
	for _, n := range list {
		found = append(found, n.Summary)
	}
	return found
}

// The whole life of a plan: shown, announced, told, carried out, told.
func TestOrphanIsEnded(t *testing.T) {
	w, d := driving(usual(), orphan(4, noon))
	if p := w.Snapshot().Policy; !p.Active || p.Orphans != 1 || len(p.Rules) != len(policy.All) {
		t.Errorf("%+v", p)
	}
	due := noon.Add(10 * time.Minute)
	if p := d.planned(); !p.ShutdownAt.Equal(due) || p.Reason != "its client Codex (1004) has ended" {
		t.Errorf("%+v", p)
	}
	changed := w.changed
	if len(w.events) > 0 {
		t.Errorf("%v", w.events)
	}
	d.pass(6 * time.Minute)
	expect(t, "events", w.kinds(monitor.EventShutdownPlanned), "shutdown_planned 4 in 5 min: its client Codex (1004) has ended")
	expect(t, "notices", summaries(w.notices), "4 - alpha will shut down in 5 min")
	if n := w.notices[0]; !n.Asks || n.Body != "Its client Codex (1004) has ended." || !slices.Equal(n.IDs, []monitor.Identity{who(4)}) {
		t.Errorf("%+v", n)
	}
	if len(w.stops) > 0 || !d.planned().ShutdownAt.Equal(due) || w.changed != changed {
		t.Errorf("%v, %+v, changed %d times", w.stops, d.planned(), w.changed-changed)
	}
	d.pass(4 * time.Minute)
	if len(w.stops) != 1 || w.stops[0].By != "the policy orphans: its client Codex (1004) has ended" || !w.stops[0].Automatic || w.stops[0].Force {
		t.Fatalf("%+v", w.stops)
	}
	if !slices.Equal(w.asked, []int{4}) {
		t.Errorf("looked at %v", w.asked)
	}
	expect(t, "notices", summaries(w.notices[1:]), "Ended: 4 - alpha")
	if body := w.notices[1].Body; body != "100 MB given back." && body != "Its client Codex (1004) has ended. 100 MB given back." {
		t.Errorf("%q", body)
	}
	expect(t, "withdrawn", w.gone, "planned 4-7")
	// A snapshot may still have it for a moment.
	if got := w.kinds(monitor.EventShutdownPlanned, monitor.EventPlanDropped); len(got) != 1 || len(d.e.book.plans) > 0 {
		t.Errorf("%q", got)
	}
	w.instances()
	d.look()
	if len(d.e.book.gone) > 0 {
		t.Error("what is gone is remembered for ever")
	}
}

// Nothing is due at once: what is found late is announced first.
func TestFoundLate(t *testing.T) {
	w, d := driving(usual(), orphan(4, noon.Add(-3*time.Hour)), server(5, noon.Add(-40*time.Minute)))
	expect(t, "announced", w.kinds(monitor.EventShutdownPlanned),
		"shutdown_planned 4 in 5 min: its client Codex (1004) has ended", "shutdown_planned 5 in 5 min: no call for 30 min")
	for _, a := range d.e.Decisions(w.Snapshot(), "") {
		if a.Do != policy.Wait || !a.At.Equal(noon.Add(5*time.Minute)) {
			t.Errorf("%+v", a)
		}
	}
	d.pass(5*time.Minute - time.Second)
	if len(w.stops) > 0 {
		t.Errorf("%+v", w.stops)
	}
	d.pass(time.Second)
	if !slices.Equal(w.asked, []int{4, 5}) {
		t.Errorf("looked at %v", w.asked)
	}
	if len(w.stopped) != 2 {
		t.Errorf("%v", w.stopped)
	}
}

// A short time is announced for half of it.
func TestShortTimes(t *testing.T) {
	w, d := driving(policy.Rules{OrphanGrace: 4 * time.Second}, orphan(4, noon))
	d.pass(2 * time.Second)
	expect(t, "announced", w.kinds(monitor.EventShutdownPlanned), "shutdown_planned 4 in 2 s: its client Codex (1004) has ended")
	d.pass(2 * time.Second)
	expect(t, "notices", summaries(w.notices), "4 - alpha will shut down in 1.5 s", "Ended: 4 - alpha")
}

// What stands against a plan drops it, and says so to whom it was announced.
func TestPlanIsDropped(t *testing.T) {
	busy := true
	for name, test := range map[string]struct {
		how  func(*testing.T, *drive, *monitor.Instance)
		says string
	}{
		"at work": {func(_ *testing.T, _ *drive, in *monitor.Instance) {
			in.Busy, in.Evidence.IdleSince = &busy, time.Time{}
		}, "it is at work"},
		"used":         {func(_ *testing.T, _ *drive, in *monitor.Instance) { in.Evidence.IdleSince = noon.Add(26 * time.Minute) }, "it was used"},
		"pinned":       {func(_ *testing.T, _ *drive, in *monitor.Instance) { in.Pinned = true }, "it is pinned"},
		"kept":         {func(t *testing.T, d *drive, in *monitor.Instance) { must(t, d.e.Keep(*in, time.Hour, "a test")) }, "it is kept"},
		"paused":       {func(t *testing.T, d *drive, _ *monitor.Instance) { must(t, d.e.Pause(time.Time{}, "a test")) }, "the policies are paused"},
		"switched off": {func(t *testing.T, d *drive, _ *monitor.Instance) { must(t, d.e.Switch(policy.Idle, false, "a test")) }, "the rule is switched off"},
		"set off":      {func(_ *testing.T, d *drive, _ *monitor.Instance) { d.e.SetRules(policy.Rules{}) }, "the rule does not apply any more"},
		"asleep":       {func(_ *testing.T, d *drive, _ *monitor.Instance) { d.sleep(8 * time.Hour) }, "the machine slept, or its clock was set, so that the time counts anew"},
	} {
		t.Run(name, func(t *testing.T) {
			in := server(4, noon)
			w, d := driving(usual(), in)
			d.pass(27 * time.Minute)
			expect(t, "announced", w.kinds(monitor.EventShutdownPlanned), "shutdown_planned 4 in 5 min: no call for 30 min")
			test.how(t, d, &in)
			w.instances(in)
			d.look()
			expect(t, "dropped", w.kinds(monitor.EventPlanDropped), "plan_dropped 4 "+test.says)
			expect(t, "withdrawn", w.gone, "planned 4-7")
			if p := d.planned(); name != "asleep" && name != "used" && !p.ShutdownAt.IsZero() {
				t.Errorf("it is shown: %+v", p)
			}
			d.pass(10 * time.Minute)
			if len(w.stops) > 0 {
				t.Errorf("%+v", w.stops)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is found out when the tree is held counts, and so does what the user says
// until then.
func TestConfirmed(t *testing.T) {
	for name, test := range map[string]struct {
		how  func(*testing.T, *drive, monitor.Instance)
		says string
	}{
		"a call":  {func(_ *testing.T, d *drive, _ monitor.Instance) { d.contrary = errUsed }, "a call runs"},
		"kept":    {func(t *testing.T, d *drive, in monitor.Instance) { must(t, d.e.Keep(in, time.Hour, "a test")) }, "it is kept"},
		"paused":  {func(t *testing.T, d *drive, _ monitor.Instance) { must(t, d.e.Pause(time.Time{}, "a test")) }, "the policies are paused"},
		"pinned":  {func(_ *testing.T, d *drive, in monitor.Instance) { in.Pinned = true; d.instances(in) }, "it is pinned"},
		"changed": {func(_ *testing.T, d *drive, in monitor.Instance) { d.instances() }, "the policy idle no longer applies"},
	} {
		t.Run(name, func(t *testing.T) {
			in := server(4, noon.Add(-time.Hour))
			w, d := driving(usual(), in)
			d.tick(5 * time.Minute)
			d.look()
			if len(d.begun) != 1 {
				t.Fatalf("%d ends were begun", len(d.begun))
			}
			test.how(t, d, in)
			d.carryOut()
			if len(w.stops) > 0 {
				t.Errorf("%+v", w.stops)
			}
			if got := w.kinds(monitor.EventPolicyRefused); len(got) != 1 || !strings.Contains(got[0], "but "+test.says) {
				t.Errorf("%q", got)
			}
		})
	}
}

// What does not end although it was told to is told to the user, once an hour.
func TestItDoesNotEnd(t *testing.T) {
	w, d := driving(usual(), orphan(4, noon))
	w.stop = func(in monitor.Instance, _ stop.Order) (stop.Result, error) {
		return stop.Result{Outcome: stop.Failed, Detail: "Not ended: " + in.Label() + ": python (4) is still there."}, stop.ErrSurvived
	}
	d.pass(69 * time.Minute)
	expect(t, "notices", summaries(w.notices), "4 - alpha will shut down in 5 min", "Not ended: 4 - alpha")
	if body := w.notices[1].Body; !strings.Contains(body, "python (4) is still there.") {
		t.Errorf("%q", body)
	}
	w.stop = func(monitor.Instance, stop.Order) (stop.Result, error) {
		w.s = &monitor.Snapshot{Seq: w.s.Seq + 1, At: w.time}
		return stop.Result{Outcome: stop.Gone}, process.ErrGone
	}
	d.pass(time.Hour)
	if n := len(d.e.book.plans); n > 0 {
		t.Errorf("%d plans for what is gone", n)
	}
}

// Who was told of an end is told of the next one, also of a server that was not seen for
// a moment.
func TestPlannedAgainWithinTheHour(t *testing.T) {
	w, d := driving(usual(), orphan(4, noon))
	d.pass(6 * time.Minute)
	w.instances()
	d.look()
	w.instances(orphan(4, noon))
	d.look()
	d.pass(time.Minute)
	expect(t, "notices", summaries(w.notices), "4 - alpha will shut down in 5 min", "4 - alpha will shut down in 5 min")
	expect(t, "withdrawn", w.gone, "planned 4-7")
}

// What the ladder found gone and the snapshots go on to have is decided about
// again, ever more rarely.
func TestNotGoneAfterAll(t *testing.T) {
	w, d := driving(usual(), server(4, noon))
	tries := 0
	w.stop = func(monitor.Instance, stop.Order) (stop.Result, error) {
		tries++
		return stop.Result{Outcome: stop.Gone}, process.ErrGone
	}
	d.pass(31*time.Minute - time.Second)
	if tries != 1 {
		t.Errorf("%d tries", tries)
	}
	d.pass(23 * time.Hour)
	if tries < 10 || tries > 35 {
		t.Errorf("%d tries in a day", tries)
	}
	w.stop = nil
	d.pass(2 * time.Hour)
	if len(w.stopped) == 0 {
		t.Error("what goes on after all is never ended")
	}
	w.instances()
	d.look()
	if len(d.e.book.gone) > 0 {
		t.Error("what is gone is remembered for ever")
	}
}

// Rules that may not end it say so, and ask the user once.
func TestNotify(t *testing.T) {
	pinned := orphan(5, noon.Add(-time.Hour))
	pinned.Pinned = true
	w, d := driving(usual(), attached(4, noon.Add(-time.Hour)), pinned)
	d.pass(5 * time.Hour)
	expect(t, "refused", w.kinds(monitor.EventPolicyRefused), "policy_refused 5 its client Codex (1005) has ended, but it is pinned")
	expect(t, "notified", w.kinds(monitor.EventNotified), "notified 4 no call for 30 min, but its client Codex (1004) is connected")
	expect(t, "notices", summaries(w.notices), "4 - alpha may not be needed")
	// When it was used meanwhile, it is another matter: after the hour.
	w.instances(attached(4, w.now()))
	d.look()
	d.pass(40 * time.Minute)
	w.instances(attached(4, w.now()))
	d.look()
	d.pass(40 * time.Minute)
	if got := w.kinds(monitor.EventNotified); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// What is dead to everybody is told of, and leaves the lists until it shows a sign of life.
func TestGivenUp(t *testing.T) {
	alive := server(4, time.Time{})
	alive.Busy = nil
	dead := alive
	dead.State, dead.Cause = monitor.StateZombie, monitor.CauseSuspended
	dead.Evidence.NoUsers, dead.Evidence.RedSince = true, noon
	w, d := driving(policy.Rules{ZombieAfter: 10 * time.Minute}, dead)
	d.pass(9 * time.Minute)
	if p := d.planned(); !p.GivenUpSince.IsZero() || len(w.notices) > 0 {
		t.Errorf("too early: %+v, %v", p, w.notices)
	}
	d.pass(time.Minute)
	since := d.planned().GivenUpSince
	d.pass(time.Minute)
	expect(t, "notices", summaries(w.notices), "4 - alpha may not be needed")
	expect(t, "events", w.kinds(monitor.EventPruned), "pruned 4 from the lists: it has needed attention for 10 min and no client has it")
	if !since.Equal(noon.Add(10*time.Minute)) || !d.planned().GivenUpSince.Equal(since) {
		t.Errorf("since %v, then %v", since, d.planned().GivenUpSince)
	}
	w.instances(alive)
	d.look()
	if p := d.planned(); !p.GivenUpSince.IsZero() {
		t.Errorf("it does not come back: %+v", p)
	}
}

// Many at once are one notice, and four at a time are ended.
func TestMany(t *testing.T) {
	var list []monitor.Instance
	for pid := 1; pid <= 500; pid++ {
		list = append(list, orphan(pid, noon))
	}
	w, d := driving(usual(), list...)
	d.pass(6 * time.Minute)
	expect(t, "notices", summaries(w.notices), "500 servers will shut down, the first in 5 min")
	if n := w.notices[0]; len(n.IDs) != 500 || strings.Count(n.Body, "\n") != mostLines || !strings.HasSuffix(n.Body, "\nand 492 more") {
		t.Errorf("%+v", n)
	}
	d.tick(4 * time.Minute)
	d.look()
	for rounds := 0; len(d.begun) > 0; rounds++ {
		if len(d.begun) > mostAtOnce || rounds > 500 {
			t.Fatalf("round %d: %d at once", rounds, len(d.begun))
		}
		begun := d.begun
		d.begun = nil
		for _, next := range begun {
			d.e.carryOut(t.Context(), next)
		}
		gone := w.stopped
		w.instances(slices.DeleteFunc(slices.Clone(list), func(in monitor.Instance) bool { return slices.Contains(gone, in.Identity) })...)
		d.look()
	}
	if len(w.stopped) != 500 {
		t.Errorf("%d were ended", len(w.stopped))
	}
	expect(t, "notices", summaries(w.notices[1:]), "500 servers ended, 50 GB given back")
}

// A notice counts the servers that it lists, each once, whatever is told of it.
func TestNoticeCountsServers(t *testing.T) {
	rules := usual()
	rules.MemoryOver = 1_000_000_000
	w, d := driving(rules)
	look := func(pids ...int) {
		var list []monitor.Instance
		for _, pid := range pids {
			in := attached(pid, noon.Add(-time.Hour))
			in.RSSBytes = 2_000_000_000
			list = append(list, in)
		}
		w.instances(list...)
		d.look()
		d.pass(gather)
	}
	tell := func(pids ...int) (lines []string) {
		for _, pid := range pids {
			lines = append(lines, fmt.Sprintf("%d - alpha: no call for 30 min, but its client Codex (%d) is connected; it uses more than 1.0 GB", pid, pid+1000))
		}
		return lines
	}
	check := func(summary string, ids int, lines ...string) {
		t.Helper()
		n := w.notices[len(w.notices)-1]
		if n.Summary != summary || len(n.IDs) != ids || n.Body != strings.Join(lines, "\n") {
			t.Errorf("%q of %v:\n%s", n.Summary, n.IDs, n.Body)
		}
	}
	look(1, 2)
	check("2 servers may not be needed", 2, tell(1, 2)...)
	look(11, 12, 13, 14, 15, 16, 17, 18)
	check("8 servers may not be needed", 8, tell(11, 12, 13, 14, 15, 16, 17, 18)...)
	look(21, 22, 23, 24, 25, 26, 27, 28, 29)
	check("9 servers may not be needed", 9, append(tell(21, 22, 23, 24, 25, 26, 27, 28), "and 1 more")...)

	look(31, 32, 33, 34)
	asked := w.notices[len(w.notices)-1]
	d.choose(asked, KeyStop)
	check("4 servers ended, 400 MB given back", 4, "31 - alpha", "32 - alpha", "33 - alpha", "34 - alpha")
	if len(w.stops) != 4 {
		t.Errorf("%d orders", len(w.stops))
	}
}
