package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
)

// selecting selects by the rules of a settings file that says nothing. Nothing
// else is asked of it here.
type selecting struct{ api.Policies }

func (selecting) Decisions(s *monitor.Snapshot, w policy.What) []policy.Action {
	return policy.Select(s, w, policy.Rules{}, time.Now())
}

// Confirm says what it was asked, which refuses an order that asks.
func (selecting) Confirm(in monitor.Instance, w policy.What) func(context.Context) error {
	return func(context.Context) error { return fmt.Errorf("asked whether %s is of %s", in.ID(), w) }
}

// pinning notes what is pinned, by id. One that has ended cannot be.
type pinning map[string]bool

func (p pinning) Pin(in monitor.Instance, pinned bool, _ string) error {
	if in.Name() == "gone" {
		return process.ErrGone
	}
	p[in.ID()] = pinned
	return nil
}

// watched are servers about whose use something is known.
func watched() []monitor.Instance {
	yes, no := true, false
	now := time.Now()
	idle := func(pid int, name string, since time.Duration) monitor.Instance {
		in := serenaAt(pid, 24280+pid, name)
		in.Busy = &no
		in.Evidence = monitor.Evidence{Transport: "http", IdleSince: now.Add(-since), KeepsState: &no}
		return in
	}
	fresh := idle(2, "fresh", 10*time.Minute)
	fresh.LastActivity = now.Add(-2*time.Minute - 5*time.Second)
	working := idle(3, "working", time.Hour)
	working.Busy, working.Evidence.IdleSince = &yes, time.Time{}
	pinned := idle(4, "pinned", time.Hour)
	pinned.Pinned = true
	orphan := idle(6, "orphan", 5*time.Minute)
	orphan.Evidence.Transport, orphan.Evidence.Orphaned, orphan.Evidence.ClientGone = "stdio", true, true
	orphan.Client = &monitor.Client{Identity: monitor.Identity{PID: 9}, Name: "Codex"}
	return []monitor.Instance{idle(1, "idle", 42*time.Minute), fresh, working, pinned, serenaAt(5, 24285, "unknown"), orphan}
}

func TestStopWhatIsMeant(t *testing.T) {
	const freed = ", 3 processes, about 152 MB given back.\n"
	for _, test := range []struct {
		args   string
		status int
		ids    string
		out    []string // lines, each wholly or its beginning, in this order
		err    []string // likewise
	}{
		{"--idle", 0, "1-10", []string{
			"Ended: 24281 - idle" + freed, "Not ended: 24284 - pinned is pinned.\n", "Not ended: 24285 - unknown: whether it is at work cannot be told.\n",
		}, nil},
		{"--idle --force", 0, "1-10", []string{
			"Ended: 24281 - idle" + freed, "Not ended: 24284 - pinned is pinned.\n", "Not ended: 24285 - unknown: whether it is at work cannot be told.\n",
		}, nil},
		{"--orphans", 0, "6-60", []string{"Ended: 24286 - orphan" + freed}, nil},
		{"--all", 1, "1-10 2-20 5-50 6-60", []string{
			"Ended: 24281 - idle" + freed, "Ended: 24282 - fresh" + freed, "Ended: 24285 - unknown" + freed, "Ended: 24286 - orphan" + freed,
		}, []string{"lamplighter: Not ended: 24283 - working is at work (--force).\n", "lamplighter: Not ended: 24284 - pinned is pinned (--force).\n"}},
		{"--all --force", 0, "1-10 2-20 3-30 4-40 5-50 6-60", []string{
			"Ended: 24281 - idle", "Ended: 24282 - fresh", "Ended: 24283 - working", "Ended: 24284 - pinned", "Ended: 24285 - unknown", "Ended: 24286 - orphan",
		}, nil},
		{"--idle --dry-run", 0, "1-10", []string{
			"Would end 24281 - idle.\n", "  by the rule idle: no call for 30 min\n", "  it is reached over HTTP\n", "  asked: no call runs\n", "  idle since ",
			"Not ended: 24284 - pinned is pinned.\n", "  by the rule idle: no call for 30 min\n", "  it is pinned\n", "  it is reached over HTTP\n", "  asked: no call runs\n", "  idle since ",
			"Not ended: 24285 - unknown: whether it is at work cannot be told.\n", "  by the rule idle: it may be idle\n", "  how it is reached is not known\n",
			"  whether it is at work is not known, which counts as busy\n",
			"Not ended: 24282 - fresh answered a call 2 min ago.\n", "  it is reached over HTTP\n", "  asked: no call runs\n", "  idle since ", "  its last call was at ",
			"Not ended: 24283 - working is at work.\n", "  it is reached over HTTP\n", "  asked: a call runs or waits\n",
			"Not ended: 24286 - orphan was seen idle for 5 min only.\n", "  its client Codex (9) has closed the connection and has ended\n", "  asked: no call runs\n", "  idle since ",
		}, nil},
	} {
		t.Run(test.args, func(t *testing.T) {
			d := newDesktop(t)
			d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: watched()}})
			status := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...)
			if status != test.status || !begin(d.out.String(), test.out) || !begin(d.err.String(), test.err) {
				t.Errorf("status %d, want %d\nprinted\n%s\nwant\n%s\nsaid\n%s\nwant\n%s", status, test.status, d.out.String(), strings.Join(test.out, "|"), d.err.String(), strings.Join(test.err, "|"))
			}
			if ids := strings.Join(slices.Sorted(slices.Values(d.background.ids)), " "); ids != test.ids {
				t.Errorf("ordered the end of %q, want %q", ids, test.ids)
			}
			for i, o := range d.background.orders {
				asked := "nothing"
				if o.Confirm != nil {
					asked = fmt.Sprint(o.Confirm(t.Context()))
				}
				want := "nothing"
				if what, _, _ := strings.Cut(strings.TrimPrefix(test.args, "--"), " "); what != "all" {
					want = fmt.Sprintf("asked whether %s is of %s", d.background.ids[i], what)
				}
				if asked != want {
					t.Errorf("just before its end: %s, want %s", asked, want)
				}
				if o.Automatic || o.Force != strings.Contains(test.args, "--force") || o.DryRun != strings.Contains(test.args, "--dry-run") {
					t.Errorf("ordered %+v", o)
				}
			}
		})
	}
}

// begin tells whether each line of a text begins with the word at its place.
func begin(text string, words []string) bool {
	return slices.EqualFunc(slices.Collect(strings.Lines(text)), words, strings.HasPrefix)
}

func TestStopNothingMeant(t *testing.T) {
	for _, test := range []struct {
		list []monitor.Instance
		args string
		out  string
	}{
		{nil, "--idle", "Nothing to end: no server runs.\n"},
		{watched()[1:3], "--idle", "Nothing to end: no server has been idle for long enough. With --dry-run you are told of each.\n"},
		{watched()[:3], "--orphans", "Nothing to end: no server is orphaned.\n"},
		{nil, "--all", "Nothing to end: no server runs.\n"},
		{nil, "--all --json", `{"results":[]}` + "\n"},
		{nil, "--idle --dry-run", "Nothing to end: no server runs.\n"},
	} {
		d := newDesktop(t)
		d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: test.list}})
		if got := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...); got != 0 || d.out.String() != test.out || d.err.String() != "" || d.background.ids != nil {
			t.Errorf("%s: %d, %q, %q, %v", test.args, got, d.out.String(), d.err.String(), d.background.ids)
		}
	}
}

func TestStopWhatIsMeantJSON(t *testing.T) {
	d := newDesktop(t)
	d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: watched()[:4]}})
	if got := d.runs(t, "stop", "--idle", "--dry-run", "--json"); got != 0 || d.err.String() != "" {
		t.Fatal(got, d.err.String())
	}
	var answer struct{ Results []stopped }
	if err := json.Unmarshal([]byte(d.out.String()), &answer); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range answer.Results {
		got = append(got, strings.Join([]string{r.ID, string(r.Outcome), string(r.Rule), r.Reason, r.Because, r.Detail}, "|"))
		if len(r.Evidence) < 2 {
			t.Errorf("%s: evidence %q", r.ID, r.Evidence)
		}
	}
	want := []string{
		"1-10|would_end|idle|no call for 30 min||Would end 24281 - idle.",
		"4-40|refused|idle|no call for 30 min|it is pinned|Not ended: 24284 - pinned is pinned.",
		"2-20|refused|||it answered a call 2 min ago|Not ended: 24282 - fresh answered a call 2 min ago.",
		"3-30|refused|||it is at work|Not ended: 24283 - working is at work.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Without a background process there is one look, which says what it cannot
// know. All servers can be ended by it.
func TestStopByOneLook(t *testing.T) {
	list := watched()[1:3]
	for i := range list {
		list[i].Evidence = monitor.Evidence{}
	}
	const unwatched = "lamplighter: one look at the processes cannot tell "
	for _, test := range []struct {
		args     string
		status   int
		ids      int
		out, err string // parts
	}{
		{"--idle", 69, 0, "Not ended: 24282 - fresh: whether it is at work cannot be told.\n", unwatched + "for how long a server has had no call; start lamplighter"},
		{"--idle --dry-run", 69, 0, "Not ended: 24283 - working is at work.\n  how it is reached is not known\n", unwatched + "for how long"},
		{"--orphans", 69, 0, "Nothing was ended.\n", unwatched + "whether its client has left a server"},
		{"--orphans --dry-run", 69, 0, "Not ended: 24282 - fresh is not orphaned.\n", unwatched + "whether"},
		{"--all", 1, 1, "Ended: 24282 - fresh, 3 processes", "lamplighter: Not ended: 24283 - working is at work (--force).\n"},
	} {
		d := newDesktop(t, slices.Clone(list)...)
		got := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...)
		if got != test.status || len(d.alone.ids) != test.ids {
			t.Errorf("%s: %d, ended %v", test.args, got, d.alone.ids)
		}
		apptest.Contains(t, d.out.String(), test.out)
		apptest.Contains(t, d.err.String(), test.err)
	}
}

// Who looks alone looks again just before: what has ended its idleness is not
// ended.
func TestConfirmByOneLook(t *testing.T) {
	list := watched()
	for _, test := range []struct {
		options stopOptions
		in      monitor.Instance
		says    string
	}{
		{stopOptions{idle: true}, list[0], ""},
		{stopOptions{idle: true, force: true}, list[2], "one more look cannot tell that it is idle"},
		{stopOptions{idle: true}, list[3], "one more look cannot tell that it is idle"},
		{stopOptions{orphans: true}, list[5], ""},
		{stopOptions{orphans: true}, list[0], "one more look cannot tell that it is orphaned"},
	} {
		d := newDesktop(t, slices.Clone(list)...)
		confirm := (&decider{program: d.program, options: test.options}).confirm(&test.in)
		if err := confirm(t.Context()); (err == nil) != (test.says == "") || err != nil && err.Error() != test.says {
			t.Errorf("%+v of %s: %v", test.options, test.in.Name(), err)
		}
		d.scan = func(context.Context) (*monitor.Snapshot, error) { return nil, os.ErrPermission }
		if err := confirm(t.Context()); !errors.Is(err, os.ErrPermission) {
			t.Error(err)
		}
	}
	if (&decider{options: stopOptions{all: true}}).confirm(&list[0]) != nil {
		t.Error("an order for all looks for a reason")
	}
}

// The menu ends what is idle or orphaned when it is chosen, and is still just
// before its end.
func TestMenuStopsAll(t *testing.T) {
	for what, want := range map[string]string{"idle": "1-10", "orphans": "6-60"} {
		ladder := &fakeLadder{}
		d := &desk{source: &model{current: &monitor.Snapshot{Seq: 1, Instances: watched()}}, policies: selecting{}, stop: ladder, log: slog.New(slog.DiscardHandler)}
		d.StopAll(what)
		if got := strings.Join(ladder.ids, " "); got != want {
			t.Fatalf("%s: ended %q", what, got)
		}
		o := ladder.orders[0]
		if o.Confirm == nil || o.Automatic || o.Force {
			t.Fatalf("%s: ordered %+v", what, o)
		}
		if err := o.Confirm(t.Context()); err == nil || err.Error() != "asked whether "+want+" is of "+what {
			t.Error(err)
		}
		d.StopInstance("2-20")
		if o := ladder.orders[1]; o.Confirm != nil {
			t.Error("one that the user names needs a reason")
		}
	}
}

func TestPinVerbs(t *testing.T) {
	for _, test := range []struct {
		args   string
		status int
		pinned map[string]bool
		out    string
		err    string
	}{
		{"pin 24281", 0, map[string]bool{"1-10": true}, "Pinned: 24281 - alpha.\n", ""},
		{"pin alpha 24282", 0, map[string]bool{"1-10": true, "2-20": true}, "Pinned: 24281 - alpha.\nPinned: 24282 - beta.\n", ""},
		{"unpin alpha", 0, map[string]bool{"1-10": false}, "Unpinned: 24281 - alpha.\n", ""},
		{"unpin alpha --json", 0, map[string]bool{"1-10": false}, `{"results":[{"id":"1-10","label":"24281 - alpha","pinned":false}]}` + "\n", ""},
		{"pin gone alpha", 1, map[string]bool{"1-10": true}, "Pinned: 24281 - alpha.\n", "lamplighter: Not pinned: 24287 - gone: process is gone.\n"},
		{"pin beta alpha", 1, nil, "", `lamplighter: pin: 2 servers are "beta": 24282 - beta (pid 2), 24283 - beta (pid 3); choose one by its pid; nothing was pinned` + "\n"},
	} {
		d := newDesktop(t)
		d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: stoppable()}})
		got := d.runs(t, strings.Fields(test.args)...)
		if got != test.status || d.out.String() != test.out || d.err.String() != test.err {
			t.Errorf("%s: %d\nprinted %q\nwant    %q\nsaid %q\nwant %q", test.args, got, d.out.String(), test.out, d.err.String(), test.err)
		}
		if len(d.pinned) != len(test.pinned) {
			t.Errorf("%s: pinned %v", test.args, d.pinned)
		}
		for id, pinned := range test.pinned {
			if now, ok := d.pinned[id]; !ok || now != pinned {
				t.Errorf("%s: pinned %v", test.args, d.pinned)
			}
		}
	}
}

// Without a background process the verb pins by itself, and writes that down.
func TestPinAlone(t *testing.T) {
	stat, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	in := serenaAt(1, 24281, "alpha")
	in.Identity = stat.Identity
	d := newDesktop(t, in)
	for _, verb := range []string{"pin", "pin", "unpin", "pin"} {
		if got := d.runs(t, verb, "alpha"); got != 0 {
			t.Fatal(verb, got, d.err.String())
		}
	}
	if d.out.String() != "Pinned: 24281 - alpha.\nPinned: 24281 - alpha.\nUnpinned: 24281 - alpha.\nPinned: 24281 - alpha.\n" || !d.pins().Pinned(in.Identity) {
		t.Errorf("%q, pinned %v", d.out.String(), d.pins().Pinned(in.Identity))
	}
	list, err := events.Read(d.places().StateDir, events.Query{})
	var kinds []monitor.EventKind
	for _, e := range list.Events {
		kinds = append(kinds, e.Kind)
	}
	if want := []monitor.EventKind{monitor.EventPinned, monitor.EventUnpinned, monitor.EventPinned}; err != nil || !slices.Equal(kinds, want) {
		t.Errorf("wrote %q, %v; want %q", kinds, err, want)
	}
	// What cannot be remembered is not pinned.
	d = newDesktop(t, in)
	dir := d.places().StateDir
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(filepath.Join(dir, "pins.json"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := d.runs(t, "pin", "alpha"); got != 1 || d.out.String() != "" || !strings.Contains(d.err.String(), "lamplighter: Not pinned: 24281 - alpha: ") {
		t.Errorf("%d, %q, %q", got, d.out.String(), d.err.String())
	}
}
