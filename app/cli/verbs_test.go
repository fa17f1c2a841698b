package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

func TestExitStatus(t *testing.T) {
	for _, test := range []struct {
		args string
		want int
		err  string // part of standard error; empty: nothing there
	}{
		{"version", 0, ""},
		{"--version", 0, ""},
		{"--help", 0, ""},
		{"help", 0, ""},
		{"help logs", 0, ""},
		{"status", 0, ""},
		{"status --json", 0, ""},
		{"completion bash", 0, ""},
		{"open nosuch", 1, `lamplighter: open: no server is "nosuch"; lamplighter status lists them`},
		{"logs nosuch", 1, `lamplighter: logs: no server is "nosuch"; lamplighter status lists them`},
		{"open", 69, "start lamplighter for the global dashboard, or name a server to open its own"},
		{"statsu", 2, `there is no verb "statsu"; did you mean status? See lamplighter --help`},
		{"nosuch", 2, `there is no verb "nosuch"; see`},
		{"\x1b[31mx", 2, `there is no verb "[31mx"; see`},
		{"status extra", 2, "status takes no argument"},
		{"status --jsn", 2, "unknown flag: --jsn"},
		{"run extra", 2, "run takes no argument"},
		{"logs", 2, "logs takes one server: its pid, port or project"},
		{"logs a b", 2, "logs takes one server"},
		{"open a b", 2, "open takes one server at most"},
		{"version x", 2, "version takes no argument"},
		{"events", 0, ""},
		{"events --json", 0, ""},
		{"events x", 2, "events takes no argument"},
		{"events --since", 2, "flag needs an argument"},
		{"events --since soon", 2, `events: --since: "soon" is not a time; write it like`},
		{"stop nosuch", 1, `stop: no server is "nosuch"; lamplighter status lists them`},
		{"stop", 2, "stop takes at least one server: its pid, port, id or project, as in lamplighter stop 24284"},
		{"stop --json", 2, "stop takes at least one server"},
		{"stop --idle --all", 2, "stop takes one of --idle, --orphans and --all"},
		{"stop --idle alpha", 2, "stop takes either servers or one of --idle, --orphans and --all"},
		{"stop --orphans", 0, ""},
		{"pin", 2, "pin takes at least one server: its pid, port, id or project, as in lamplighter pin 24284"},
		{"unpin nosuch", 1, `unpin: no server is "nosuch"; lamplighter status lists them`},
		{"help nosuch", 2, "no help about"},
		{"completion nosuch", 2, "unknown command"},
		{"--config", 2, "flag needs an argument"},
		{"--web-dashboard-global-port 0", 2, `"0" is not a port from 1024 to 65535; see lamplighter --help`},
		{"run --web-dashboard-global-port=1023", 2, `"1023" is not a port from 1024 to 65535; see lamplighter run --help`},
		{"run --web-dashboard-global=perhaps", 2, `"perhaps" is not one of true, false`},
		{"run --web-dashboard-global false", 2, "run takes no argument"},
		{"open --web-dashboard-global", 2, "unknown flag"},
		{"status --config x", 2, "unknown flag: --config"},
		{"--config x open", 2, "unknown flag: --config"},
		{"logs a --config=x", 2, "unknown flag: --config"},
		{"version --config x", 2, "unknown flag: --config"},
	} {
		d := newDesktop(t)
		got := d.runs(t, strings.Fields(test.args)...)
		said := d.err.String()
		if got != test.want || !strings.Contains(said, test.err) || (test.err == "") != (said == "") {
			t.Errorf("%q: status %d, want %d; said %q", test.args, got, test.want, said)
		}
		if strings.Count(said, "\n") > 1 {
			t.Errorf("%q said more than one line: %q", test.args, said)
		}
	}
}

// fullDisk takes some bytes, and then no more.
type fullDisk struct{ room int }

func (w *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), w.room)
	w.room -= n
	if n < len(b) {
		return n, errors.New("write: no space left on device")
	}
	return n, nil
}

// What the library prints fails like all else that we print, once and in our words.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, verb := range []string{"help", "help logs", "--help", "logs --help", "--version", "version", "status", "completion", "completion bash", "completion zsh", "completion fish", "completion powershell"} {
		for _, room := range []int{0, 3} {
			d := newDesktop(t)
			d.stdout = &fullDisk{room}
			if got := d.runs(t, strings.Fields(verb)...); got != statusFailed || d.err.String() != "lamplighter: write: no space left on device\n" {
				t.Errorf("%s, room for %d bytes: %d, %q", verb, room, got, d.err.String())
			}
		}
	}
}

// Errors that were joined are told in one line, in which each is to be told apart.
func TestErrorsInOneLine(t *testing.T) {
	for want, err := range map[string]error{
		"a":             errors.New("a"),
		"a; b":          errors.Join(errors.New("a"), errors.New("b")),
		"verb: a; b; c": fmt.Errorf("verb: %w", errors.Join(errors.New("a"), errors.Join(errors.New("b\n"), errors.New("c")))),
		"a; b [31mc":    errors.New("a\r\n\n b \x1b[31mc\n"),
	} {
		if got := oneLine(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	d := newDesktop(t)
	d.scan = func(context.Context) (*monitor.Snapshot, error) {
		return nil, errors.Join(errors.New("no processes"), errors.New("no ports"))
	}
	if got := d.runs(t, "status"); got != statusFailed || d.err.String() != "lamplighter: status: no processes; no ports\n" {
		t.Errorf("%d, %q", got, d.err.String())
	}
}

func TestHelpNamesEveryVerb(t *testing.T) {
	d := newDesktop(t)
	d.runs(t, "--help")
	apptest.Contains(t, d.out.String(), "run ", "status ", "open ", "logs ", "events ", "stop ", "pin ", "unpin ", "version ", "completion ", "--config FILE", "69")
	for verb, offers := range map[string]bool{"run": true, "status": false, "open": false, "logs": false, "events": false, "stop": false} {
		d := newDesktop(t)
		d.runs(t, verb, "--help")
		if got := strings.Contains(d.out.String(), "--config"); got != offers {
			t.Errorf("%s offers --config: %v", verb, got)
		}
	}
}

func TestStatusScansAlone(t *testing.T) {
	d := newDesktop(t, serenaAt(101, 24282, "alpha"))
	d.snap.Warnings = []string{"the settings are broken"}
	if got := d.runs(t, "status"); got != 0 {
		t.Fatal(got, d.err.String())
	}
	apptest.Contains(t, d.out.String(), "24282 - alpha")
	if got := d.err.String(); got != "lamplighter: the settings are broken\n" {
		t.Errorf("said %q", got)
	}
}

func TestStatusJSON(t *testing.T) {
	want := func(d *desktop, s *monitor.Snapshot) {
		t.Helper()
		if got := d.runs(t, "status", "--json"); got != 0 || d.err.String() != "" {
			t.Fatal(got, d.err.String())
		}
		var list api.Instances
		if err := json.Unmarshal([]byte(d.out.String()), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Instances) != len(s.Instances) || *list.Instances[0].ProjectName != s.Instances[0].ProjectName {
			t.Errorf("got %s", d.out.String())
		}
		if strings.ContainsAny(d.out.String(), "\x1b\u202e") || !strings.HasPrefix(d.out.String(), `{"instances":[{"id":"`) {
			t.Errorf("got %q", d.out.String())
		}
	}
	d := newDesktop(t, serenaAt(101, 24282, "al\x1b[2J\u202epha"))
	want(d, d.snap)

	d = newDesktop(t)
	m := &model{current: &monitor.Snapshot{Instances: []monitor.Instance{serenaAt(7, 24282, "from\u202e the background")}, Warnings: []string{"not in JSON"}}}
	d.serveBackground(t, m)
	want(d, m.current)
}

// That an instance is not recognised is told to people. Programs get the fields
// they know.
func TestStatusOfTheUnrecognised(t *testing.T) {
	for _, background := range []bool{false, true} {
		stranger := serenaAt(7, 24282, "stranger")
		stranger.Recognised = false
		d := newDesktop(t, stranger, serenaAt(8, 24283, "known"))
		if background {
			d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: d.snap.Instances}})
			d.snap = &monitor.Snapshot{}
		}
		d.runs(t, "status")
		if n := strings.Count(d.out.String(), "not recognised: "); n != 1 {
			t.Errorf("background %v: told %d times:\n%s", background, n, d.out.String())
		}
		d.runs(t, "status", "--json")
		if strings.Contains(d.out.String(), "recognised\"") || !strings.Contains(d.out.String(), `"label":"24282 - stranger"`) {
			t.Errorf("background %v: %s", background, d.out.String())
		}
	}
}

func TestStatusShowsTheBackgroundsWarnings(t *testing.T) {
	d := newDesktop(t)
	d.serveBackground(t, &model{current: &monitor.Snapshot{Warnings: []string{"settings: x\x1b"}}})
	if got := d.runs(t, "status"); got != 0 || d.err.String() != "lamplighter: settings: x\n" || d.out.String() != nothingRuns {
		t.Errorf("%d, %q, %q", got, d.err.String(), d.out.String())
	}
}

func TestStatusFails(t *testing.T) {
	d := newDesktop(t)
	d.scan = func(context.Context) (*monitor.Snapshot, error) { return nil, fs.ErrPermission }
	if got := d.runs(t, "status"); got != 1 || d.err.String() != "lamplighter: status: permission denied\n" {
		t.Errorf("%d, %q", got, d.err.String())
	}
}

func TestStatusWatch(t *testing.T) {
	d := newDesktop(t)
	m := &model{current: &monitor.Snapshot{}}
	d.serveBackground(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- d.main(ctx, []string{"status", "--watch", "--json"}) }()
	apptest.Eventually(t, "the first line", func() bool { return d.out.String() == "{\"instances\":[]}\n" })
	m.set(&monitor.Snapshot{Seq: 1}) // nothing to be seen has changed
	m.set(&monitor.Snapshot{Instances: []monitor.Instance{serenaAt(1, 24282, "alpha")}})
	apptest.Eventually(t, "the second line", func() bool { return strings.Count(d.out.String(), "\n") == 2 })
	apptest.Contains(t, d.out.String(), `"label":"24282 - alpha"`)
	cancel()
	if got := <-ended; got != 0 || d.err.String() != "" {
		t.Errorf("ended with %d, %q", got, d.err.String())
	}
}

func TestStatusWatchWithoutBackground(t *testing.T) {
	d := newDesktop(t)
	d.screen = screen{terminal: true, width: 80, height: 24}
	ctx, cancel := context.WithCancel(t.Context())
	d.follow = func(ctx context.Context, each func(*monitor.Snapshot) error) error {
		if err := each(&monitor.Snapshot{Instances: []monitor.Instance{serenaAt(1, 24282, "alpha")}}); err != nil {
			return err
		}
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if got := d.main(ctx, []string{"status", "--watch"}); got != 0 || d.err.String() != "" {
		t.Errorf("ended with %d, %q", got, d.err.String())
	}
	out := d.out.String()
	if !strings.HasPrefix(out, "\x1b[2J\x1b[HNo servers yet.") || !strings.Contains(out, "\x1b[HSTATE") || !strings.Contains(out, "24282 - alpha") {
		t.Errorf("drew %q", out)
	}
}

func TestCompletions(t *testing.T) {
	bare := serenaAt(4, 0, "bare")
	bare.DashboardURL = ""
	generic := serenaAt(5, 0, "")
	generic.Kind, generic.State, generic.DashboardURL = "file system", monitor.StateNoProject, ""
	list := []monitor.Instance{
		serenaAt(1, 24282, "al\x1bpha"), serenaAt(2, 24283, "al\x1bpha"), serenaAt(3, 24284, ""), bare, generic,
		serenaAt(6, 24286, "--force"), serenaAt(7, 24287, "two\n\tlines\u202e"), serenaAt(8, 24288, "24282"), // a port of another
	}
	list[7].State, list[7].Cause = monitor.StateZombie, monitor.CauseSuspended
	const (
		alpha   = "1\t24282 - alpha\n2\t24283 - alpha\nalpha\tlive\n"
		third   = "3\t24284 - NO PROJECT\n"
		fourth  = "4\tpid 4 - bare\nbare\tlive\n"
		fifth   = "5\tpid 5 - file system\nfile system\tno dashboard\n"
		hostile = "6\t24286 - --force\n7\t24287 - two lines\ntwo lines\tlive\n"
		taken   = "8\t24288 - 24282\n"
	)
	for _, background := range []bool{false, true} {
		for args, want := range map[string]string{
			"logs|":           alpha + third + hostile + taken,
			"open|":           alpha + third + fourth + fifth + hostile + taken,
			"open|x|":         "",
			"stop|":           alpha + third + fourth + fifth + hostile + taken,
			"stop|bare|5|":    alpha + third + hostile + taken,
			"stop|alpha|":     third + fourth + fifth + hostile + taken,
			"stop|1|":         strings.Replace(alpha, "1\t24282 - alpha\n", "", 1) + third + fourth + fifth + hostile + taken,
			"stop|--force|5|": alpha + third + fourth + hostile + taken,
			"status|":         "", "events|": "",
			"events|--since|": "1h\n1d\n7d\ntoday\nyesterday\n",
		} {
			d := newDesktop(t, append([]monitor.Instance{}, list...)...)
			if background {
				d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: d.snap.Instances}})
				d.snap = &monitor.Snapshot{}
			}
			d.runs(t, append([]string{"__complete"}, strings.Split(args, "|")...)...)
			if got := sorted(d.out.String()); got != sorted(want+":4\n") {
				t.Errorf("%s, background %v: got\n%q, want\n%q", args, background, got, sorted(want+":4\n"))
			}
		}
	}
}

// sorted are the lines of text in any order.
func sorted(text string) string {
	lines := slices.Sorted(strings.Lines(text))
	return strings.Join(lines, "")
}

func TestNoCompletions(t *testing.T) {
	d := newDesktop(t)
	d.scan = func(ctx context.Context) (*monitor.Snapshot, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the scan may take for ever")
		}
		return nil, fs.ErrPermission
	}
	if d.runs(t, "__complete", "stop", ""); d.out.String() != ":4\n" {
		t.Errorf("got %q", d.out.String())
	}
}

func FuzzChoose(f *testing.F) {
	for _, seed := range []string{"", "alpha", "1", "24282", "1-10", "-1", "NO PROJECT", "\x1b[2J", "\xff", "99999999999999999999"} {
		f.Add(seed)
	}
	s := &monitor.Snapshot{Instances: []monitor.Instance{serenaAt(1, 24282, "alpha"), serenaAt(2, 24283, "alpha"), serenaAt(3, 0, "")}}
	f.Fuzz(func(t *testing.T, what string) {
		in, err := choose(s, what)
		if (in == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", what, in, err)
		}
	})
}

// A choice by something that only one instance has always finds that one.
func TestChooseByWhatIsUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []monitor.Instance
		for i := range rapid.IntRange(1, 20).Draw(t, "n") {
			list = append(list, serenaAt(i+1, 24282+i, rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name")))
		}
		monitor.Sort(list)
		s := &monitor.Snapshot{Instances: list}
		want := rapid.SampledFrom(list).Draw(t, "want")
		for _, what := range []string{want.ID(), want.Label()[:5]} {
			if in, err := choose(s, what); err != nil || in.Identity != want.Identity {
				t.Errorf("%s: %v, %v", what, in, err)
			}
		}
	})
}

// Whoever has to choose by a pid reads it once, also of a server without a port.
func TestChooseNamesAPidOnce(t *testing.T) {
	list := []monitor.Instance{serenaAt(1, 0, "a"), serenaAt(2, 24283, "a")}
	list[0].DashboardURL = ""
	_, err := choose(&monitor.Snapshot{Instances: list}, "a")
	const want = `2 servers are "a": pid 1 - a, 24283 - a (pid 2); choose one by its pid`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
