package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/process"
)

// pinning notes what is pinned, by id. One that has ended cannot be.
type pinning map[string]bool

func (p pinning) Pin(in monitor.Instance, pinned bool, _ string) error {
	if in.Name() == "gone" {
		return process.ErrGone
	}
	p[in.ID()] = pinned
	return nil
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
			"Ended: 1 - idle" + freed, "Not ended: 4 - pinned is pinned.\n", "Not ended: 5 - unknown: whether it is at work cannot be told.\n",
		}, nil},
		{"--idle --force", 0, "1-10", []string{
			"Ended: 1 - idle" + freed, "Not ended: 4 - pinned is pinned.\n", "Not ended: 5 - unknown: whether it is at work cannot be told.\n",
		}, nil},
		{"--orphans", 0, "6-60", []string{"Ended: 6 - orphan" + freed}, nil},
		{"--all", 1, "1-10 2-20 5-50 6-60", []string{
			"Ended: 1 - idle" + freed, "Ended: 2 - fresh" + freed, "Ended: 5 - unknown" + freed, "Ended: 6 - orphan" + freed,
		}, []string{"lamplighter: Not ended: 3 - working is at work (--force).\n", "lamplighter: Not ended: 4 - pinned is pinned (--force).\n"}},
		{"--all --force", 0, "1-10 2-20 3-30 4-40 5-50 6-60", []string{
			"Ended: 1 - idle", "Ended: 2 - fresh", "Ended: 3 - working", "Ended: 4 - pinned", "Ended: 5 - unknown", "Ended: 6 - orphan",
		}, nil},
		{"--idle --dry-run", 0, "1-10", []string{
			"Would end 1 - idle.\n", "  by the rule idle: no call for 30 min\n", "  it is reached over HTTP\n", "  asked: no call runs\n", "  idle since ",
		}, nil},
		{"--idle --dry-run -v", 0, "1-10", []string{
			"Would end 1 - idle.\n", "  by the rule idle: no call for 30 min\n", "  it is reached over HTTP\n", "  asked: no call runs\n", "  idle since ",
			"Not ended: 4 - pinned is pinned.\n", "  by the rule idle: no call for 30 min\n", "  it is pinned\n", "  it is reached over HTTP\n", "  asked: no call runs\n", "  idle since ",
			"Not ended: 5 - unknown: whether it is at work cannot be told.\n", "  by the rule idle: it may be idle\n", "  how it is reached is not known\n",
			"  whether it is at work is not known, which counts as busy\n",
			"Not ended: 2 - fresh answered a call 2 min ago.\n", "  it is reached over HTTP\n", "  asked: no call runs\n", "  idle since ", "  its last call was at ",
			"Not ended: 3 - working is at work.\n", "  it is reached over HTTP\n", "  asked: a call runs or waits\n",
			"Not ended: 6 - orphan was seen idle for 5 min only.\n", "  its client Codex (9) has ended\n", "  asked: no call runs\n", "  idle since ",
		}, nil},
	} {
		t.Run(test.args, func(t *testing.T) {
			d := newDesktop(t)
			d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(daemontest.Watched()...)}})
			status := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...)
			if status != test.status || !begin(d.out.String(), test.out) || !begin(d.err.String(), test.err) {
				t.Errorf("status %d, want %d\nprinted\n%s\nwant\n%s\nsaid\n%s\nwant\n%s", status, test.status, d.out.String(), strings.Join(test.out, "|"), d.err.String(), strings.Join(test.err, "|"))
			}
			if ids := strings.Join(slices.Sorted(slices.Values(d.background.IDs)), " "); ids != test.ids {
				t.Errorf("ordered the end of %q, want %q", ids, test.ids)
			}
			for i, o := range d.background.Orders {
				asked := "nothing"
				if o.Confirm != nil {
					asked = fmt.Sprint(o.Confirm(t.Context()))
				}
				want := "nothing"
				if what, _, _ := strings.Cut(strings.TrimPrefix(test.args, "--"), " "); what != "all" {
					want = fmt.Sprintf("asked whether %s is of %s", d.background.IDs[i], what)
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

// begin reports whether each line of a text begins with the word at its place.
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
		{daemontest.Watched()[1:3], "--idle", "Nothing to end: no server has been idle for long enough. With --dry-run -v you are told why of each.\n"},
		{daemontest.Watched()[:3], "--orphans", "No orphans.\n"},
		{nil, "--all", "Nothing to end: no server runs.\n"},
		{nil, "--all --json", `{"results":[]}` + "\n"},
		{nil, "--idle --dry-run", "Nothing to end: no server runs.\n"},
	} {
		d := newDesktop(t)
		d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(test.list...)}})
		if got := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...); got != 0 || d.out.String() != test.out || d.err.String() != "" || d.background.IDs != nil {
			t.Errorf("%s: %d, %q, %q, %v", test.args, got, d.out.String(), d.err.String(), d.background.IDs)
		}
	}
}

func TestStopWhatIsMeantJSON(t *testing.T) {
	d := newDesktop(t)
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(daemontest.Watched()[:4]...)}})
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
		"1-10|would_end|idle|no call for 30 min||Would end 1 - idle.",
		"4-40|refused|idle|no call for 30 min|it is pinned|Not ended: 4 - pinned is pinned.",
		"2-20|refused|||it answered a call 2 min ago|Not ended: 2 - fresh answered a call 2 min ago.",
		"3-30|refused|||it is at work|Not ended: 3 - working is at work.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Without a background process there is one look, which says what it cannot
// know. All servers can be ended by it.
func TestStopByOneLook(t *testing.T) {
	list := daemontest.Watched()[1:3]
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
		{"--idle", 69, 0, "Not ended: 2 - fresh: whether it is at work cannot be told.\n", unwatched + "for how long a server has had no call; start lamplighter"},
		{"--idle --dry-run -v", 69, 0, "Not ended: 3 - working is at work.\n  how it is reached is not known\n", unwatched + "for how long"},
		{"--orphans", 69, 0, "Nothing was ended.\n", unwatched + "whether its client has left a server"},
		{"--orphans --dry-run -v", 69, 0, "Not ended: 2 - fresh is not orphaned.\n", unwatched + "whether"},
		{"--all", 1, 1, "Ended: 2 - fresh, 3 processes", "lamplighter: Not ended: 3 - working is at work (--force).\n"},
	} {
		d := newDesktop(t, slices.Clone(list)...)
		got := d.runs(t, append([]string{"stop"}, strings.Fields(test.args)...)...)
		if got != test.status || len(d.alone.IDs) != test.ids {
			t.Errorf("%s: %d, ended %v", test.args, got, d.alone.IDs)
		}
		apptest.Contains(t, d.out.String(), test.out)
		apptest.Contains(t, d.err.String(), test.err)
	}
}

// Who looks alone looks again just before: what has ended its idleness is not
// ended.
func TestConfirmByOneLook(t *testing.T) {
	list := daemontest.Watched()
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
		d.snap.At = time.Now() // as a scan has it
		confirm := (&decider{program: d.program, options: test.options}).confirm(test.in.ID())
		if err := confirm(t.Context()); (err == nil) != (test.says == "") || err != nil && err.Error() != test.says {
			t.Errorf("%+v of %s: %v", test.options, test.in.Name(), err)
		}
		d.scan = func(context.Context) (*monitor.Snapshot, error) { return nil, os.ErrPermission }
		if err := confirm(t.Context()); !errors.Is(err, os.ErrPermission) {
			t.Error(err)
		}
	}
	if (&decider{options: stopOptions{all: true}}).confirm(list[0].ID()) != nil {
		t.Error("an order for all looks for a reason")
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
		{"pin 24281", 0, map[string]bool{"1-10": true}, "Pinned: 1 - alpha.\n", ""},
		{"pin alpha 24282", 0, map[string]bool{"1-10": true, "2-20": true}, "Pinned: 1 - alpha.\nPinned: 2 - beta.\n", ""},
		{"unpin alpha", 0, map[string]bool{"1-10": false}, "Unpinned: 1 - alpha.\n", ""},
		{"unpin alpha --json", 0, map[string]bool{"1-10": false}, `{"results":[{"id":"1-10","label":"1 - alpha","pinned":false}]}` + "\n", ""},
		{"pin gone alpha", 1, map[string]bool{"1-10": true}, "Pinned: 1 - alpha.\n", "lamplighter: Not pinned: 7 - gone: process is gone.\n"},
		{"pin beta alpha", 1, nil, "", `lamplighter: pin: 2 servers are "beta": 2 - beta, 3 - beta; choose one by its pid; nothing was pinned` + "\n"},
	} {
		d := newDesktop(t)
		d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(stoppable()...)}})
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
	in := daemontest.SerenaAt(1, 24281, "alpha")
	in.Identity = stat.Identity
	d := newDesktop(t, in)
	for _, verb := range []string{"pin", "pin", "unpin", "pin"} {
		if got := d.runs(t, verb, "alpha"); got != 0 {
			t.Fatal(verb, got, d.err.String())
		}
	}
	if d.out.String() != strings.ReplaceAll("Pinned: PID - alpha.\nPinned: PID - alpha.\nUnpinned: PID - alpha.\nPinned: PID - alpha.\n", "PID", strconv.Itoa(os.Getpid())) || !d.pins().Pinned(in.Identity) {
		t.Errorf("%q, pinned %v", d.out.String(), d.pins().Pinned(in.Identity))
	}
	list, err := events.Read(d.Places().StateDir, events.Query{})
	var kinds []monitor.EventKind
	for _, e := range list.Events {
		kinds = append(kinds, e.Kind)
	}
	if want := []monitor.EventKind{monitor.EventPinned, monitor.EventUnpinned, monitor.EventPinned}; err != nil || !slices.Equal(kinds, want) {
		t.Errorf("wrote %q, %v; want %q", kinds, err, want)
	}
	// What cannot be remembered is not pinned.
	d = newDesktop(t, in)
	dir := d.Places().StateDir
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(filepath.Join(dir, "pins.json"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := d.runs(t, "pin", "alpha"); got != 1 || d.out.String() != "" || !strings.Contains(d.err.String(), "lamplighter: Not pinned: "+in.Label()+": ") {
		t.Errorf("%d, %q, %q", got, d.out.String(), d.err.String())
	}
}

// A background process that does not answer would not know of a pin, and go by
// what it knows.
func TestPinWhileTheBackgroundIsSilent(t *testing.T) {
	d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"))
	stat, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	d.snap.Instances[0].Identity = stat.Identity
	lock, err := daemon.TakeLock(d.Places(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	for verb, done := range map[string]string{"pin": "pinned", "unpin": "unpinned"} {
		d.out, d.err = apptest.Buffer{}, apptest.Buffer{}
		if status := d.runs(t, verb, "alpha"); status != 1 || d.out.String() != "" {
			t.Errorf("%s: %d, %q", verb, status, d.out.String())
		}
		apptest.Contains(t, d.err.String(), verb+": nothing was "+done+": a program that does not answer holds the lock "+lock.Path())
	}
	if d.pins().Pinned(stat.Identity) {
		t.Error("it is pinned all the same")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if status := d.runs(t, "pin", "alpha"); status != 0 || !d.pins().Pinned(stat.Identity) {
		t.Errorf("where none runs: %d, %q", status, d.err.String())
	}
}
