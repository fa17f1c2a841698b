package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

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
			d.Stdout = &fullDisk{room}
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

// That an instance is not recognised is told to people. Programs get the fields
// they know.
func TestStatusOfTheUnrecognised(t *testing.T) {
	for _, background := range []bool{false, true} {
		stranger := daemontest.SerenaAt(7, 24282, "stranger")
		stranger.Recognised = false
		d := newDesktop(t, stranger, daemontest.SerenaAt(8, 24283, "known"))
		if background {
			d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: d.snap.Instances}})
			d.snap = &monitor.Snapshot{}
		}
		d.runs(t, "status")
		if n := strings.Count(d.out.String(), "not recognised: "); n != 1 {
			t.Errorf("background %v: told %d times:\n%s", background, n, d.out.String())
		}
		d.runs(t, "status", "--json")
		if strings.Contains(d.out.String(), "recognised\"") || !strings.Contains(d.out.String(), `"label":"7 - stranger"`) {
			t.Errorf("background %v: %s", background, d.out.String())
		}
	}
}

func TestStatusShowsTheBackgroundsWarnings(t *testing.T) {
	d := newDesktop(t)
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Warnings: []string{"settings: x\x1b"}}})
	if got := d.runs(t, "status"); got != 0 || d.err.String() != "lamplighter: settings: x\n" || d.out.String() != nothingRuns {
		t.Errorf("%d, %q, %q", got, d.err.String(), d.out.String())
	}
}

func TestStatusWatch(t *testing.T) {
	d := newDesktop(t)
	m := &daemontest.Model{Current: &monitor.Snapshot{}}
	d.serveBackground(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- d.main(ctx, []string{"status", "--watch", "--json"}) }()
	apptest.Eventually(t, "the first line", func() bool {
		return d.out.String() == "{\"instances\":[],\"children\":[],\"repeated\":[],\"given_up\":null}\n"
	})
	m.Set(&monitor.Snapshot{Seq: 1}) // nothing to be seen has changed
	m.Set(&monitor.Snapshot{Instances: daemontest.List(daemontest.SerenaAt(1, 24282, "alpha"))})
	apptest.Eventually(t, "the second line", func() bool { return strings.Count(d.out.String(), "\n") == 2 })
	apptest.Contains(t, d.out.String(), `"label":"1 - alpha"`)
	cancel()
	if got := <-ended; got != 0 || d.err.String() != "" {
		t.Errorf("ended with %d, %q", got, d.err.String())
	}
}

func TestStatusWatchWithoutBackground(t *testing.T) {
	d := newDesktop(t)
	d.screen, d.OnScreen = screen{width: 80, height: 24}, true
	ctx, cancel := context.WithCancel(t.Context())
	d.follow = func(ctx context.Context, each func(*monitor.Snapshot) error) error {
		if err := each(&monitor.Snapshot{Instances: daemontest.List(daemontest.SerenaAt(1, 24282, "alpha"))}); err != nil {
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
	if !strings.HasPrefix(out, "\x1b[2J\x1b[HNo servers yet.") || !strings.Contains(out, "\x1b[HSTATE") || !strings.Contains(out, "1 - alpha") {
		t.Errorf("drew %q", out)
	}
}

func TestCompletions(t *testing.T) {
	bare := daemontest.SerenaAt(4, 0, "bare")
	bare.DashboardURL = ""
	generic := daemontest.SerenaAt(5, 0, "")
	generic.Kind, generic.State, generic.DashboardURL = "file system", monitor.StateLive, ""
	child := monitor.Instance{Identity: monitor.Identity{PID: 9, Start: 90}, Kind: "cat", State: monitor.StateLive, OnPipes: true}
	list := []monitor.Instance{
		child, daemontest.SerenaAt(1, 24282, "al\x1bpha"), daemontest.SerenaAt(2, 24283, "al\x1bpha"), daemontest.SerenaAt(3, 24284, ""), bare, generic,
		daemontest.SerenaAt(6, 24286, "--force"), daemontest.SerenaAt(7, 24287, "two\n\tlines\u202e"), daemontest.SerenaAt(8, 24288, "24282"), // a port of another
	}
	list[8].State, list[8].Cause = monitor.StateZombie, monitor.CauseSuspended
	const (
		alpha   = "1\talpha\n2\talpha\nalpha\tlive\n"
		third   = "3\tNO PROJECT\n"
		fourth  = "4\tbare\nbare\tlive\n"
		fifth   = "5\tfile system\nfile system\tlive\n"
		hostile = "6\t--force\n7\ttwo lines\ntwo lines\tlive\n"
		taken   = "8\t24282\n"
	)
	for _, background := range []bool{false, true} {
		for args, want := range map[string]string{
			"logs|":           alpha + third + hostile + taken,
			"name|":           "9\tcat\ncat\tlive\n",
			"open|":           "9\tcat\ncat\tlive\n" + alpha + third + fourth + fifth + hostile + taken,
			"open|x|":         "",
			"stop|":           alpha + third + fourth + fifth + hostile + taken,
			"stop|bare|5|":    alpha + third + hostile + taken,
			"stop|alpha|":     third + fourth + fifth + hostile + taken,
			"stop|1|":         strings.Replace(alpha, "1\talpha\n", "", 1) + third + fourth + fifth + hostile + taken,
			"stop|--force|5|": alpha + third + fourth + hostile + taken,
			"status|":         "", "events|": "",
			"events|--since|": "1h\n1d\n7d\ntoday\nyesterday\n",
		} {
			d := newDesktop(t, append([]monitor.Instance{}, list...)...)
			if background {
				d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: d.snap.Instances}})
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

// A choice by something that only one instance has always finds that one.
func TestChooseByWhatIsUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []monitor.Instance
		for i := range rapid.IntRange(1, 20).Draw(t, "n") {
			list = append(list, daemontest.SerenaAt(i+1, 24282+i, rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name")))
		}
		shown := daemontest.List(list...)
		monitor.Sort(shown)
		all := view.All(&monitor.Snapshot{Instances: shown})
		want := rapid.SampledFrom(list).Draw(t, "want")
		for _, what := range []string{want.ID(), want.Label(), strconv.Itoa(want.Identity.PID), strconv.Itoa(want.Port)} {
			if s, err := choose(all, what); err != nil || string(s.ID) != want.ID() {
				t.Errorf("%s: %v, %v", what, s, err)
			}
		}
	})
}
