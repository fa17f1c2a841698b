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
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/stop"
)

func stoppable() []monitor.Instance {
	return []monitor.Instance{
		daemontest.SerenaAt(1, 24281, "alpha"), daemontest.SerenaAt(2, 24282, "beta"), daemontest.SerenaAt(3, 24283, "beta"), daemontest.SerenaAt(4, 24284, "never"),
		daemontest.SerenaAt(5, 24285, "busy"), daemontest.SerenaAt(6, 24286, "tough"), daemontest.SerenaAt(7, 24287, "gone"), daemontest.SerenaAt(8, 24288, "odd"),
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
		{"alpha", 0, "1-10", "Ended: 1 - alpha, " + given, ""},
		{"24282 alpha", 0, "1-10 2-20", "Ended: 2 - beta, " + given + "Ended: 1 - alpha, " + given, ""},
		{"1 24281 1-10 alpha", 0, "1-10", "Ended: 1 - alpha, " + given, ""},
		{"alpha --dry-run", 0, "1-10", "Would end 1 - alpha.\n" + unwatched, ""},
		{"never alpha", 1, "1-10 4-40", "Ended: 1 - alpha, " + given, "lamplighter: Not ended: 4 - never has a process of another user. That user has to end it first.\n"},
		{"busy", 1, "5-50", "", "lamplighter: Not ended: 5 - busy is at work. Wait until it is done, or force it (--force).\n"},
		{"busy --force", 0, "5-50", "Ended: 5 - busy, " + given, ""},
		{"busy --dry-run", 1, "5-50", "", "lamplighter: Not ended: 5 - busy is at work. Wait until it is done, or force it (--force).\n" + unwatched},
		{"tough", 1, "6-60", "", "lamplighter: Not ended: 6 - tough: not all of it has ended: 6 is still there.\n"},
		{"odd", 1, "8-80", "", "lamplighter: Not ended: 8 - odd: no descriptors are left.\n"},
		{"gone", 0, "7-70", "Ended already: 7 - gone.\n", ""},
		{"nosuch", 1, "", "", "lamplighter: stop: no server is \"nosuch\"; lamplighter status lists them\n"},
		{"alpha nosuch", 1, "", "", "lamplighter: stop: no server is \"nosuch\"; lamplighter status lists them; nothing was ended\n"},
		{"beta alpha x", 1, "", "", "lamplighter: stop: 2 servers are \"beta\": 2 - beta, 3 - beta; choose one by its pid; " +
			"no server is \"x\"; lamplighter status lists them; nothing was ended\n"},
		{"", 2, "", "", "lamplighter: stop takes at least one server: its pid, port, id or project, as in lamplighter stop 24284; or --idle, --orphans, --suspected, --others, --client or --all; see lamplighter stop --help\n"},
		{"--force", 2, "", "", "lamplighter: stop takes at least one server: its pid, port, id or project, as in lamplighter stop 24284; or --idle, --orphans, --suspected, --others, --client or --all; see lamplighter stop --help\n"},
	} {
		for _, background := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, background %v", test.args, background), func(t *testing.T) {
				d := newDesktop(t, stoppable()...)
				ladder := d.alone
				if background {
					d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: d.snap.Instances}})
					d.snap = &monitor.Snapshot{} // not to be looked at
					ladder = d.background
				}
				got := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...)
				if got != test.status || d.out.String() != test.out || d.err.String() != test.err {
					t.Errorf("status %d, want %d\nprinted %q\nwant    %q\nsaid %q\nwant %q", got, test.status, d.out.String(), test.out, d.err.String(), test.err)
				}
				slices.Sort(ladder.IDs)
				if ids := strings.Join(ladder.IDs, " "); ids != test.ids {
					t.Errorf("ordered the end of %q, want %q", ids, test.ids)
				}
				for _, o := range ladder.Orders {
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
		`{"id":"5-50","label":"5 - busy","error":"Not ended: 5 - busy is at work. Wait until it is done, or force it.","outcome":"refused",` +
		`"detail":"Not ended: 5 - busy is at work. Wait until it is done, or force it.","steps":[],"processes":0,"freed_bytes":0,"forceable":true},` +
		`{"id":"1-10","label":"1 - alpha","outcome":"ended","detail":"Ended: 1 - alpha, 3 processes, about 152 MB given back.","steps":[],"processes":3,"freed_bytes":152000000}` +
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
	dir := d.Places().StateDir
	list, err := events.Read(dir, events.Query{})
	if err != nil || len(list.Events) != 1 || list.Events[0].Label != "1 - alpha" || list.Events[0].Kind != monitor.EventStopOrdered {
		t.Errorf("%+v, %v", list, err)
	}
	// Where they cannot be written, that is said, and all the rest done.
	d = newDesktop(t, stoppable()...)
	dir = d.Places().StateDir
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(filepath.Join(dir, "events.jsonl"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := d.runs(t, "stop", "alpha"); got != 0 || !strings.HasPrefix(d.out.String(), "Ended:") {
		t.Errorf("%d, %q", got, d.out.String())
	}
	apptest.Contains(t, d.err.String(), "what happens is not written down (", "it is a directory")
	d = newDesktop(t, stoppable()...)
	d.Base.StateHome = ""
	if got := d.runs(t, "stop", "alpha"); got != 0 || !strings.HasPrefix(d.out.String(), "Ended:") {
		t.Errorf("%d, %q", got, d.out.String())
	}
	apptest.Contains(t, d.err.String(), "what happens is not written down (there is no home directory")
}

func TestStopIsInterrupted(t *testing.T) {
	d := newDesktop(t, stoppable()...)
	ctx, cancel := context.WithCancel(t.Context())
	d.scan = func(context.Context) (*monitor.Snapshot, error) { cancel(); return d.snap, nil }
	if got := d.main(ctx, []string{"stop", "alpha"}); got != 1 || len(d.alone.IDs) != 0 {
		t.Errorf("%d, ended %v", got, d.alone.IDs)
	}
	apptest.Contains(t, d.err.String(), "Not ended: 1 - alpha: interrupted before its turn.")
}

// What the background process has begun goes on there.
func TestStopIsInterruptedWhileItWaits(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		leaves bool // the user, before the answer
		want   string
		lost   bool
	}{
		"by the user":               {context.Canceled, true, "Not waited for: 1 - alpha: lamplighter goes on ending it; lamplighter events tells what comes of it.", false},
		"by the background's death": {fmt.Errorf("%w: connection reset", api.ErrUnreachable), false, "Not known: 1 - alpha: the background process cannot be reached: connection reset; lamplighter status tells whether it still runs.", true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		in := daemontest.SerenaAt(1, 24281, "alpha")
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

// A number that is the pid of one server and the port of another means the pid.
func TestStopByANumberOfTwo(t *testing.T) {
	d := newDesktop(t, daemontest.SerenaAt(24282, 24281, "alpha"), daemontest.SerenaAt(7, 24282, "beta"))
	if got := d.runs(t, "stop", "24282"); got != 0 || !slices.Equal(d.alone.IDs, []string{"24282-242820"}) {
		t.Errorf("%d, ended %v", got, d.alone.IDs)
	}
}

func TestStopFails(t *testing.T) {
	d := newDesktop(t)
	d.scan = func(context.Context) (*monitor.Snapshot, error) { return nil, fs.ErrPermission }
	if got := d.runs(t, "stop", "x"); got != 1 || d.err.String() != "lamplighter: stop: permission denied\n" {
		t.Errorf("%d, %q", got, d.err.String())
	}
	d = newDesktop(t, stoppable()...)
	d.Stdout = full{}
	if got := d.runs(t, "stop", "alpha"); got != 1 || !strings.Contains(d.err.String(), "disk full") {
		t.Errorf("%d, %q", got, d.err.String())
	}
}

// An order for suspected orphans shows them with what speaks against them, and ends
// none without a yes; one for all asks, too.
func TestStopAsks(t *testing.T) {
	suspect, used := daemontest.SerenaAt(1, 24281, "alpha"), daemontest.SerenaAt(2, 24282, "beta")
	suspect.State, suspect.Cause, suspect.Reason = monitor.StateZombie, monitor.CauseSuspected, "nobody holds the other end of its pipes"
	used.Client = &monitor.Client{Identity: monitor.Identity{PID: 9}, Name: "Codex"}
	const question = "End 1 server? [y/N] "
	for name, test := range map[string]struct {
		args, typed string
		status      int
		ids         string
		out, said   []string
	}{
		"yes":               {"--suspected", "y\n", 0, "1", []string{"  1 - alpha: nobody holds the other end of its pipes\n", "Ended: 1 - alpha"}, []string{question}},
		"no":                {"--suspected", "\n", 0, "", []string{"Nothing was ended.\n"}, []string{question}},
		"nobody to ask":     {"--suspected", "", 2, "", nil, []string{"add --yes"}},
		"with --yes":        {"--suspected --yes", "", 0, "1", []string{"Ended: 1 - alpha"}, nil},
		"a look":            {"--suspected --dry-run", "", 0, "1", []string{"Would end 1 - alpha."}, nil},
		"as JSON":           {"--suspected --json", "y\n", 2, "", nil, []string{"add --yes"}},
		"all":               {"--all", "n\n", 0, "", []string{"Nothing was ended.\n"}, []string{"End 2 servers, 1 of them in use by a client? [y/N] "}},
		"all, with nobody":  {"--all", "", 0, "1 2", []string{"Ended: 1 - alpha"}, nil},
		"and by their name": {"--suspected alpha", "", 2, "", nil, []string{"either servers or one of"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t, suspect, used)
			if test.typed != "" {
				d.keyboard = strings.NewReader(test.typed)
			}
			if status := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			apptest.Contains(t, d.out.String(), test.out...)
			apptest.Contains(t, d.err.String(), test.said...)
			var ids []string
			for _, id := range d.alone.IDs {
				pid, _, _ := strings.Cut(id, "-")
				ids = append(ids, pid)
			}
			slices.Sort(ids)
			if got := strings.Join(ids, " "); got != test.ids {
				t.Errorf("ended %q, want %q", got, test.ids)
			}
		})
	}
}

// An order for the others keeps the one that is named.
func TestStopOthers(t *testing.T) {
	var list []monitor.Instance
	for pid := 1; pid <= 4; pid++ {
		in := daemontest.SerenaAt(pid, 24280+pid, "alpha")
		in.StartedAt, in.LastActivity = daemontest.Noon, daemontest.Noon.Add(time.Duration(pid%3)*time.Second)
		in.ProjectRoot, in.Client = "/w/alpha", &monitor.Client{Identity: monitor.Identity{PID: 9, Start: 1}, Name: "Codex"}
		list = append(list, in)
	}
	list[3].ProjectRoot = "/w/beta"
	for _, test := range []struct {
		args   string
		status int
		ids    string
		said   string
	}{
		{"--others 2 --yes", 0, "1-10 3-30", ""},
		{"--others 2", 2, "", "add --yes"},
		{"--others 1", 1, "", "2 was called last, and that is the one to keep"},
		{"--others 4", 1, "", "its client has started 4 - alpha once"},
		{"--others 7", 1, "", `no server is "7"`},
		{"--others 2 alpha", 2, "", "either servers or one of"},
	} {
		d := newDesktop(t, list...)
		if status := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...); status != test.status {
			t.Errorf("%s: status %d, want %d: %s", test.args, status, test.status, d.err.String())
		}
		apptest.Contains(t, d.err.String(), test.said)
		slices.Sort(d.alone.IDs)
		if ids := strings.Join(d.alone.IDs, " "); ids != test.ids {
			t.Errorf("%s: ended %q, want %q", test.args, ids, test.ids)
		}
	}
}

// An order for the servers of a client means no other's, by whatever name.
func TestStopOfClient(t *testing.T) {
	var list []monitor.Instance
	for i, client := range []string{"Codex", "Claude Code", "Claude Code"} {
		in := daemontest.SerenaAt(i+1, 24281+i, []string{"alpha", "alpha", "beta"}[i])
		in.Client = &monitor.Client{Identity: monitor.Identity{PID: 90 + i, Start: 1}, Name: client}
		list = append(list, in)
	}
	for _, test := range []struct {
		args   []string
		status int
		ids    string
		said   string
	}{
		{[]string{"alpha", "--client", "codex"}, 0, "1-10", ""},
		{[]string{"alpha", "--client", "claude-code"}, 0, "2-20", ""},
		{[]string{"--client", "Claude Code"}, 0, "2-20 3-30", ""},
		{[]string{"beta", "--client", "Codex"}, 1, "", `of the servers of Codex: no server is "beta"`},
		{[]string{"alpha", "--client", "Zed"}, 1, "", `no server has the client "Zed"; there are Codex, Claude Code`},
	} {
		d := newDesktop(t, list...)
		if status := d.runs(t, append([]string{"stop"}, test.args...)...); status != test.status {
			t.Errorf("%s: status %d, want %d: %s", test.args, status, test.status, d.err.String())
		}
		apptest.Contains(t, d.err.String(), test.said)
		slices.Sort(d.alone.IDs)
		if ids := strings.Join(d.alone.IDs, " "); ids != test.ids {
			t.Errorf("%s: ended %q, want %q", test.args, ids, test.ids)
		}
	}
}
