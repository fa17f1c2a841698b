package policies

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// The answers to a notice are the user's word.
func TestChosen(t *testing.T) {
	idle := noon.Add(-24*time.Minute - 30*time.Second) // told of after the orphan
	w, d := driving(usual(), orphan(4, noon), attached(5, idle), attached(6, idle))
	d.pass(6 * time.Minute)
	d.e.Chosen(w.notices[0], KeyKeep)
	if until, kept := d.e.wishesNow().KeptAt(who(4), w.now()); !kept || !until.Equal(noon.Add(66*time.Minute)) {
		t.Errorf("%v, %v", until, kept)
	}
	expect(t, "kept", w.kinds(monitor.EventKept), "kept 4 for 1 h, by the notification")
	d.e.Chosen(Notice{IDs: []monitor.Identity{who(98), who(99)}}, KeyKeep) // they have ended
	fifth, sixth := w.notices[1], w.notices[2]
	expect(t, "notices", summaries(w.notices[1:]), "5 - alpha may not be needed", "6 - alpha may not be needed")
	fifth.IDs = append(fifth.IDs, who(99))
	d.e.Chosen(fifth, KeyStop)
	d.choose(sixth, "default")
	if len(w.stops) != 1 || w.stops[0].Automatic || w.stops[0].Force || w.stops[0].By != "the notification" || !slices.Equal(w.stopped, []monitor.Identity{who(5)}) {
		t.Errorf("%+v, %v", w.stops, w.stopped)
	}
	w.stop = func(in monitor.Instance, _ stop.Order) (stop.Result, error) {
		refusal := &stop.Refusal{Label: in.Label(), Kind: stop.ErrBusy, Why: "it is at work. Wait until it is done, or force it."}
		return stop.Result{Outcome: stop.Refused, Detail: refusal.Error()}, refusal
	}
	for range 2 {
		before := len(w.notices)
		d.choose(sixth, KeyStop)
		if n := w.notices[before:]; len(n) == 0 || n[len(n)-1].Summary != "Not ended: 6 - alpha" || n[len(n)-1].Body != "It is at work." {
			t.Errorf("%+v", n)
		}
	}
	d.pass(time.Minute)
	if len(w.kinds(monitor.EventPolicyRefused)) > 0 {
		t.Error("a user's order is tried again")
	}
}

// What does not hold any more of a notice ends nothing: the notice is withdrawn,
// and who chooses to stop all the same is told.
func TestChosenTooLate(t *testing.T) {
	yes, no := true, false
	for name, test := range map[string]struct {
		in    monitor.Instance
		after time.Duration // until it is told of
		how   func(d *drive, in *monitor.Instance)
		says  string
		stays bool // what changed is known only to who asks
	}{
		"at work": {in: attached(4, noon), after: 31 * time.Minute, how: func(_ *drive, in *monitor.Instance) {
			in.Busy, in.Evidence.IdleSince = &yes, time.Time{}
		}, says: "What the notification said of it no longer holds."},
		"used since": {in: attached(4, noon), after: 31 * time.Minute, how: func(d *drive, in *monitor.Instance) {
			in.Evidence.IdleSince = d.now()
		}, says: "What the notification said of it no longer holds."},
		"pinned": {in: attached(4, noon), after: 31 * time.Minute, how: func(_ *drive, in *monitor.Instance) {
			in.Pinned = true
		}, says: "It is pinned."},
		"a call": {in: attached(4, noon), after: 31 * time.Minute, how: func(d *drive, _ *monitor.Instance) {
			d.contrary = errUsed
		}, says: "A call runs.", stays: true},
		"used, and soon ended": {in: server(4, noon), after: 26 * time.Minute, how: func(d *drive, in *monitor.Instance) {
			in.Busy, in.Evidence.IdleSince = &no, d.now()
		}, says: "It has just been used."},
		"no orphan": {in: orphan(4, noon), after: 6 * time.Minute, how: func(d *drive, in *monitor.Instance) {
			*in = attached(4, d.now())
		}, says: "What the notification said of it no longer holds."},
		"smaller": {in: large(4), after: time.Minute, how: func(_ *drive, in *monitor.Instance) {
			in.RSSBytes = 1
		}, says: "What the notification said of it no longer holds."},
	} {
		t.Run(name, func(t *testing.T) {
			r := usual()
			r.MemoryOver = 2e9
			w, d := driving(r, test.in)
			d.pass(test.after)
			if len(w.notices) != 1 || !w.notices[0].Asks || len(w.gone) > 0 {
				t.Fatalf("%+v, withdrawn %q", w.notices, w.gone)
			}
			test.how(d, &test.in)
			w.instances(test.in)
			d.look()
			if withdrawn := slices.Equal(w.gone, []string{w.notices[0].Subject}); withdrawn == test.stays {
				t.Errorf("withdrawn %q", w.gone)
			}
			d.choose(w.notices[0], KeyStop)
			if len(w.stops) > 0 {
				t.Errorf("it was ended: %+v", w.stops)
			}
			if n := w.notices[1:]; len(n) != 1 || n[0].Summary != "Not ended: 4 - alpha" || n[0].Body != test.says {
				t.Errorf("%+v", n)
			}
		})
	}
}

// What still holds of a notice ends on the word of the user, also what no policy
// would end, and while they are paused.
func TestChosenInTime(t *testing.T) {
	for name, in := range map[string]monitor.Instance{"idle": attached(4, noon.Add(-time.Hour)), "large": large(4), "orphan": orphan(4, noon.Add(-time.Hour))} {
		w, d := driving(policy.Rules{OrphanGrace: 10 * time.Minute, IdleAfter: 30 * time.Minute, MemoryOver: 2e9}, in)
		d.pass(time.Minute)
		must(t, d.e.Pause(time.Time{}, "a test"))
		d.choose(w.notices[0], KeyStop)
		if len(w.stopped) != 1 || w.stops[0].Automatic {
			t.Errorf("%s: ended %v by %+v", name, w.stopped, w.stops)
		}
	}
}

// An order for the idle or the orphaned ones is confirmed just before an end, by a
// look at the server.
func TestConfirmOfAnOrder(t *testing.T) {
	yes := true
	idle, alone := server(4, noon.Add(-time.Hour)), orphan(4, noon.Add(-time.Hour))
	use := func(in *monitor.Instance) { in.Evidence.IdleSince = noon.Add(-time.Minute) }
	for name, test := range map[string]struct {
		in       monitor.Instance
		what     policy.Rule
		how      func(*monitor.Instance) // nil: it has ended
		contrary error
		says     string // "" when it ends
	}{
		"idle":           {idle, policy.Idle, func(*monitor.Instance) {}, nil, ""},
		"orphaned":       {alone, policy.Orphans, func(*monitor.Instance) {}, nil, ""},
		"at work":        {idle, policy.Idle, func(in *monitor.Instance) { in.Busy = &yes }, nil, "it is at work"},
		"used":           {idle, policy.Idle, use, nil, "it has just been used"},
		"pinned":         {idle, policy.Idle, func(in *monitor.Instance) { in.Pinned = true }, nil, "it is pinned"},
		"not looked at":  {idle, policy.Idle, func(*monitor.Instance) {}, errUsed, "a call runs"},
		"another client": {alone, policy.Orphans, func(in *monitor.Instance) { *in = attached(4, noon) }, nil, "it is not orphaned any more"},
		"ended":          {idle, policy.Idle, nil, nil, "it is not idle any more"},
	} {
		w := newWorld()
		w.contrary = test.contrary
		e := w.engine(w.options())
		must(t, e.Pause(time.Time{}, "a test")) // which the user does not mean with that
		confirm := e.Confirm(test.in, test.what)
		w.instances()
		if test.how != nil {
			test.how(&test.in)
			w.instances(test.in, server(5, noon.Add(-time.Hour)))
		}
		err := confirm(t.Context())
		if (err == nil) != (test.says == "") || err != nil && err.Error() != test.says || !slices.Equal(w.asked, []int{4}) {
			t.Errorf("%s: %v, looked at %v", name, err, w.asked)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := confirm(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, too late: %v", name, err)
		}
	}
	if newWorld().engine(newWorld().options()).Confirm(idle, policy.Everything) != nil {
		t.Error("an order for all looks for a reason")
	}
}

// One notice about many is withdrawn when nothing of it holds any more.
func TestManyWithdrawn(t *testing.T) {
	list := []monitor.Instance{attached(4, noon), attached(5, noon), attached(6, noon), attached(7, noon)}
	w, d := driving(usual(), list...)
	d.pass(31 * time.Minute)
	expect(t, "notices", summaries(w.notices), "4 servers may not be needed")
	w.instances(list[3:]...)
	d.look()
	if len(w.gone) > 0 {
		t.Errorf("withdrawn %q, though it holds of one", w.gone)
	}
	list[3].Evidence.IdleSince = w.now()
	w.instances(list[3:]...)
	d.look()
	expect(t, "withdrawn", w.gone, w.notices[0].Subject)
}

// large is one that uses much and is in use.
func large(pid int) monitor.Instance {
	in := attached(pid, noon)
	in.RSSBytes = 3e9
	return in
}

// What the user has given for a time counts by the clock that shows it, with and
// without a restart: a machine that sleeps does not make it longer.
func TestSaidByTheWallClock(t *testing.T) {
	w := newWorld()
	w.time = time.Now() // which the monotonic clock belongs to
	e := w.engine(w.options())
	must(t, e.Keep(server(4, noon), time.Hour, "a test"))
	must(t, e.Pause(w.time.Add(time.Hour), "a test"))
	said := e.wishesNow()
	for what, until := range map[string]time.Time{"kept": said.Kept[who(4)], "paused": said.PausedUntil} {
		if until != until.Round(0) || !until.Equal(w.time.Add(time.Hour)) {
			t.Errorf("%s until %v", what, until)
		}
	}
}

// What makes no sense is said.
func TestSaidWrongly(t *testing.T) {
	w := newWorld()
	e := w.engine(w.options())
	if err := e.Pause(noon.Add(-time.Second), ""); err == nil || !strings.Contains(err.Error(), "has passed already; give a later time") {
		t.Error(err)
	}
	if err := e.Switch("naps", true, ""); err == nil || !strings.Contains(err.Error(), `the rule "naps" was not switched: there is none of that name`) {
		t.Error(err)
	}
	must(t, e.Keep(server(4, noon), 0, "")) // it is not kept
	must(t, e.Resume(""))
	must(t, e.Switch(policy.Idle, true, ""))
	if len(w.events) > 0 {
		t.Errorf("no news is told: %v", w.events)
	}
}

// What the user wants ended begins as soon as others have ended, however many do so at once.
func TestManyChosen(t *testing.T) {
	var all []monitor.Instance
	for pid := 4; pid < 4+mostAtOnce+2; pid++ {
		all = append(all, attached(pid, noon.Add(-time.Hour)))
	}
	w, d := driving(usual(), all...)
	d.pass(time.Minute)
	if len(w.notices) != 1 {
		t.Fatalf("%+v", w.notices)
	}
	d.choose(w.notices[0], KeyStop)
	if len(w.stopped) != len(all) {
		t.Errorf("only %v were ended", w.stopped)
	}
}
