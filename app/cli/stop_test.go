package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// fakeLadder ends what it is told to, except what is named otherwise.
type fakeLadder struct {
	record func(monitor.Event)

	mu     sync.Mutex
	ids    []string
	orders []stop.Order
}

func (l *fakeLadder) Stop(_ context.Context, in monitor.Instance, o stop.Order) (stop.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids, l.orders = append(l.ids, in.ID()), append(l.orders, o)
	if l.record != nil && !o.DryRun {
		l.record(monitor.Event{At: noon, Kind: monitor.EventStopOrdered, ID: in.ID(), PID: in.Identity.PID, Label: in.Label()})
	}
	refused := func(why string, forceable bool) (stop.Result, error) {
		r := &stop.Refusal{Label: in.Label(), Kind: stop.ErrBusy, Why: why, Forceable: forceable}
		return stop.Result{Outcome: stop.Refused, Detail: r.Error()}, r
	}
	switch name := in.Name(); {
	case name == "never":
		return refused("has a process of another user. That user has to end it first.", false)
	case name == "busy" && !o.Force:
		return refused("is at work. Wait until it is done, or force it.", true)
	case name == "tough":
		return stop.Result{Outcome: stop.Failed, Detail: "24286 - tough: not all of it has ended: 6 is still there."}, stop.ErrSurvived
	case name == "odd":
		return stop.Result{Outcome: stop.Failed, Detail: "Not ended: no descriptors are left."}, errors.New("no descriptors are left")
	case name == "gone":
		return stop.Result{Outcome: stop.Gone, Detail: "It has ended."}, process.ErrGone
	case o.DryRun:
		return stop.Result{Outcome: stop.WouldEnd, Detail: "Would end " + in.Label() + "."}, nil
	}
	return stop.Result{Outcome: stop.Ended, Detail: "Ended: " + in.Label() + ", 3 processes, about 152 MB given back.", Processes: 3, FreedBytes: 152e6}, nil
}

func stoppable() []monitor.Instance {
	return []monitor.Instance{
		serenaAt(1, 24281, "alpha"), serenaAt(2, 24282, "beta"), serenaAt(3, 24283, "beta"), serenaAt(4, 24284, "never"),
		serenaAt(5, 24285, "busy"), serenaAt(6, 24286, "tough"), serenaAt(7, 24287, "gone"), serenaAt(8, 24288, "odd"),
	}
}

func TestStop(t *testing.T) {
	const given = "3 processes, about 152 MB given back.\n"
	const unwatched = "  how it is reached is not known\n  whether it is at work is not known, which counts as busy\n"
	for _, test := range []struct {
		args   string
		status int
		ids    string // in any order
		out    string
		err    string
	}{
		{"alpha", 0, "1-10", "Ended: 24281 - alpha, " + given, ""},
		{"24282 alpha", 0, "1-10 2-20", "Ended: 24282 - beta, " + given + "Ended: 24281 - alpha, " + given, ""},
		{"1 24281 1-10 alpha", 0, "1-10", "Ended: 24281 - alpha, " + given, ""},
		{"alpha --dry-run", 0, "1-10", "Would end 24281 - alpha.\n" + unwatched, ""},
		{"never alpha", 1, "1-10 4-40", "Ended: 24281 - alpha, " + given, "lamplighter: Not ended: 24284 - never has a process of another user. That user has to end it first.\n"},
		{"busy", 1, "5-50", "", "lamplighter: Not ended: 24285 - busy is at work. Wait until it is done, or force it (--force).\n"},
		{"busy --force", 0, "5-50", "Ended: 24285 - busy, " + given, ""},
		{"busy --dry-run", 1, "5-50", "", "lamplighter: Not ended: 24285 - busy is at work. Wait until it is done, or force it (--force).\n" + unwatched},
		{"tough", 1, "6-60", "", "lamplighter: Not ended: 24286 - tough: not all of it has ended: 6 is still there.\n"},
		{"odd", 1, "8-80", "", "lamplighter: Not ended: 24288 - odd: no descriptors are left.\n"},
		{"gone", 0, "7-70", "Ended already: 24287 - gone.\n", ""},
		{"nosuch", 1, "", "", "lamplighter: stop: no server is \"nosuch\"; lamplighter status lists them\n"},
		{"alpha nosuch", 1, "", "", "lamplighter: stop: no server is \"nosuch\"; lamplighter status lists them; nothing was ended\n"},
		{"beta alpha x", 1, "", "", "lamplighter: stop: 2 servers are \"beta\": 24282 - beta (pid 2), 24283 - beta (pid 3); choose one by its pid; " +
			"no server is \"x\"; lamplighter status lists them; nothing was ended\n"},
		{"", 2, "", "", "lamplighter: stop takes at least one server: its pid, port, id or project, as in lamplighter stop 24284; or --idle, --orphans or --all; see lamplighter stop --help\n"},
		{"--force", 2, "", "", "lamplighter: stop takes at least one server: its pid, port, id or project, as in lamplighter stop 24284; or --idle, --orphans or --all; see lamplighter stop --help\n"},
	} {
		for _, background := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, background %v", test.args, background), func(t *testing.T) {
				d := newDesktop(t, stoppable()...)
				ladder := d.alone
				if background {
					d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: d.snap.Instances}})
					d.snap = &monitor.Snapshot{} // not to be looked at
					ladder = d.background
				}
				got := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...)
				if got != test.status || d.out.String() != test.out || d.err.String() != test.err {
					t.Errorf("status %d, want %d\nprinted %q\nwant    %q\nsaid %q\nwant %q", got, test.status, d.out.String(), test.out, d.err.String(), test.err)
				}
				slices.Sort(ladder.ids)
				if ids := strings.Join(ladder.ids, " "); ids != test.ids {
					t.Errorf("ordered the end of %q, want %q", ids, test.ids)
				}
				for _, o := range ladder.orders {
					want := stop.Order{Force: strings.Contains(test.args, "--force"), DryRun: strings.Contains(test.args, "--dry-run"), By: "the command line"}
					if background {
						want.Protect = []int{os.Getpid()}
					}
					if !reflect.DeepEqual(o, want) {
						t.Errorf("ordered %+v, want %+v", o, want)
					}
				}
			})
		}
	}
}

func TestStopJSON(t *testing.T) {
	d := newDesktop(t, stoppable()...)
	if got := d.runs(t, "stop", "busy", "alpha", "--json"); got != 1 || d.err.String() != "" {
		t.Errorf("%d, %q", got, d.err.String())
	}
	const want = `{"results":[` +
		`{"id":"5-50","label":"24285 - busy","error":"Not ended: 24285 - busy is at work. Wait until it is done, or force it.","outcome":"refused",` +
		`"detail":"Not ended: 24285 - busy is at work. Wait until it is done, or force it.","steps":[],"processes":0,"freed_bytes":0,"forceable":true},` +
		`{"id":"1-10","label":"24281 - alpha","outcome":"ended","detail":"Ended: 24281 - alpha, 3 processes, about 152 MB given back.","steps":[],"processes":3,"freed_bytes":152000000}` +
		`]}` + "\n"
	if d.out.String() != want || !json.Valid([]byte(want)) {
		t.Errorf("got  %s\nwant %s", d.out.String(), want)
	}
}

// Without a background process the verb writes down itself what it does.
func TestStopWritesEvents(t *testing.T) {
	d := newDesktop(t, stoppable()...)
	if got := d.runs(t, "stop", "alpha"); got != 0 {
		t.Fatal(got, d.err.String())
	}
	dir := d.places().StateDir
	list, err := events.Read(dir, events.Query{})
	if err != nil || len(list.Events) != 1 || list.Events[0].Label != "24281 - alpha" || list.Events[0].Kind != monitor.EventStopOrdered {
		t.Errorf("%+v, %v", list, err)
	}
	// Where they cannot be written, that is said, and all the rest done.
	d = newDesktop(t, stoppable()...)
	dir = d.places().StateDir
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(filepath.Join(dir, "events.jsonl"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := d.runs(t, "stop", "alpha"); got != 0 || !strings.HasPrefix(d.out.String(), "Ended:") {
		t.Errorf("%d, %q", got, d.out.String())
	}
	apptest.Contains(t, d.err.String(), "what happens is not written down (", "it is a directory")
	d = newDesktop(t, stoppable()...)
	d.base.StateHome = ""
	if got := d.runs(t, "stop", "alpha"); got != 0 || !strings.HasPrefix(d.out.String(), "Ended:") {
		t.Errorf("%d, %q", got, d.out.String())
	}
	apptest.Contains(t, d.err.String(), "what happens is not written down (there is no home directory")
}

func TestStopProgress(t *testing.T) {
	d := newDesktop(t, stoppable()...)
	if d.runs(t, "stop", "alpha"); strings.ContainsRune(d.err.String(), '\x1b') {
		t.Errorf("without a terminal: %q", d.err.String())
	}
	d = newDesktop(t, stoppable()...)
	d.errScreen = screen{terminal: true, width: 16}
	if got := d.runs(t, "stop", "alpha", "gone"); got != 0 || d.err.String() != "\r\x1b[KEnding 24281 -…\r\x1b[K\r\x1b[KEnding 24287 -…\r\x1b[K" {
		t.Errorf("%d, %q", got, d.err.String())
	}
}

func TestStopIsInterrupted(t *testing.T) {
	d := newDesktop(t, stoppable()...)
	ctx, cancel := context.WithCancel(t.Context())
	d.scan = func(context.Context) (*monitor.Snapshot, error) { cancel(); return d.snap, nil }
	if got := d.main(ctx, []string{"stop", "alpha"}); got != 1 || len(d.alone.ids) != 0 {
		t.Errorf("%d, ended %v", got, d.alone.ids)
	}
	apptest.Contains(t, d.err.String(), "Not ended: 24281 - alpha: interrupted before its turn.")
}

// What the background process has begun goes on there.
func TestStopIsInterruptedWhileItWaits(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		leaves bool // the user, before the answer
		want   string
		lost   bool
	}{
		"by the user":               {context.Canceled, true, "Not waited for: 24281 - alpha: lamplighter goes on ending it; lamplighter events tells what comes of it.", false},
		"by the background's death": {fmt.Errorf("%w: connection reset", api.ErrUnreachable), false, "Not known: 24281 - alpha: the background process cannot be reached: connection reset; lamplighter status tells whether it still runs.", true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		in := serenaAt(1, 24281, "alpha")
		r := &stopped{ID: in.ID(), Label: in.Label()}
		r.end(ctx, func(context.Context, *stopped) (api.Killed, error) {
			if c.leaves {
				cancel()
			}
			return api.Killed{}, c.err
		})
		cancel()
		if outcomeLine(r) != c.want || r.lost != c.lost || ended(r.Outcome) {
			t.Errorf("%s: %q, %+v", name, outcomeLine(r), r)
		}
	}
}

// A number that is the pid of one server and the port of another means neither.
func TestStopByANumberOfTwo(t *testing.T) {
	d := newDesktop(t, serenaAt(24282, 24281, "alpha"), serenaAt(7, 24282, "beta"))
	if got := d.runs(t, "stop", "24282"); got != 1 || len(d.alone.ids) != 0 {
		t.Errorf("%d, ended %v", got, d.alone.ids)
	}
	apptest.Contains(t, d.err.String(), `2 servers are "24282"`, "24281 - alpha (id 24282-242820)", "24282 - beta (id 7-70)", "choose one by its id")
	if got := d.runs(t, "stop", "7-70"); got != 0 {
		t.Errorf("by its id: %d, %q", got, d.err.String())
	}
}

func TestStopFails(t *testing.T) {
	d := newDesktop(t)
	d.scan = func(context.Context) (*monitor.Snapshot, error) { return nil, fs.ErrPermission }
	if got := d.runs(t, "stop", "x"); got != 1 || d.err.String() != "lamplighter: stop: permission denied\n" {
		t.Errorf("%d, %q", got, d.err.String())
	}
	d = newDesktop(t, stoppable()...)
	d.stdout = full{}
	if got := d.runs(t, "stop", "alpha"); got != 1 || !strings.Contains(d.err.String(), "disk full") {
		t.Errorf("%d, %q", got, d.err.String())
	}
}
