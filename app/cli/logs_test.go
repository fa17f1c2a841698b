package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

// script is a log that answers from a list, then as last says.
type script struct {
	answers []answer
	starts  []int
	last    func()
}

type answer struct {
	messages []string
	max      int
	err      error
}

func (s *script) Logs(ctx context.Context, _ int, start int) (serena.LogPage, error) {
	s.starts = append(s.starts, start)
	if len(s.answers) == 0 {
		s.last()
		return serena.LogPage{}, errors.New("connection refused")
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	return serena.LogPage{Messages: a.messages, MaxIdx: a.max}, a.err
}

func TestLogs(t *testing.T) {
	d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"))
	d.logs = &script{answers: []answer{{[]string{"one\x1b[31m\u202e", "two\n  lines\tand a tab\r\n", "水\xff\x00"}, 2, nil}}}
	if got := d.runs(t, "logs", "alpha"); got != 0 || d.err.String() != "" {
		t.Fatal(got, d.err.String())
	}
	if got, want := d.out.String(), "one[31m\ntwo\n  lines\tand a tab\n水\ufffd\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLogsFail(t *testing.T) {
	red := daemontest.SerenaAt(2, 24283, "red")
	red.State, red.Cause, red.Reason = monitor.StateZombie, monitor.CauseSuspended, "stopped"
	other := daemontest.SerenaAt(3, 0, "")
	other.Kind = "other"
	left := daemontest.SerenaAt(4, 24285, "left")
	left.State, left.Cause, left.Reason = monitor.StateZombie, monitor.CauseDefunct, "it has exited"
	for what, want := range map[string]string{
		"left":  "logs: 4 - left has no dashboard to read a log from (defunct: it has exited)",
		"alpha": "logs: 1 - alpha does not answer: connection refused",
		"red":   "logs: 2 - red does not answer (suspended: stopped): connection refused",
		"other": "logs: 3 - other has no dashboard to read a log from (only Serena has one)",
	} {
		d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"), red, other, left)
		if got := d.runs(t, "logs", what); got != 1 || d.err.String() != "lamplighter: "+want+"\n" {
			t.Errorf("%s: %d, %q", what, got, d.err.String())
		}
	}
}

func TestLogsFollow(t *testing.T) {
	d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"))
	broken := errors.New("timeout")
	log := &script{answers: []answer{
		{[]string{"a", "b"}, 1, nil}, {nil, 1, nil}, {[]string{"c"}, 2, nil},
		{nil, 0, broken}, {nil, 0, broken}, {[]string{"d"}, 3, nil},
		{nil, -1, nil}, {[]string{"after clearing"}, 0, nil}, {nil, 0, nil},
	}}
	log.last = func() { d.snap = &monitor.Snapshot{} }
	d.logs = log
	var waits []time.Duration
	d.Pause = func(ctx context.Context, w time.Duration) error {
		waits = append(waits, w/time.Second)
		return ctx.Err()
	}
	if got := d.runs(t, "logs", "-f", "alpha"); got != 0 {
		t.Errorf("status %d", got)
	}
	if got := d.out.String(); got != "a\nb\nc\nd\nafter clearing\n" {
		t.Errorf("printed %q", got)
	}
	if got := d.err.String(); got != "lamplighter: 1 - alpha does not answer (timeout); trying again\nlamplighter: 1 - alpha has ended\n" {
		t.Errorf("said %q", got)
	}
	if want := []int{0, 2, 2, 3, 3, 3, 4, 0, 1, 1}; !slices.Equal(log.starts, want) {
		t.Errorf("asked from %v, want %v", log.starts, want)
	}
	if want := []time.Duration{1, 1, 1, 2, 4, 1, 1, 1, 1}; !slices.Equal(waits, want) {
		t.Errorf("waited %v s, want %v", waits, want)
	}
}

// Another instance may get the port between two polls. Its log is not ours.
func TestLogsFollowNoticesAnotherInstance(t *testing.T) {
	defunct := daemontest.SerenaAt(1, 24282, "alpha")
	defunct.State, defunct.Cause = monitor.StateZombie, monitor.CauseDefunct
	for name, list := range map[string][]monitor.Instance{
		"ours has ended":        {daemontest.SerenaAt(2, 24282, "beta")},
		"ours has exited":       {defunct, daemontest.SerenaAt(2, 24282, "beta")},
		"ours has another port": {daemontest.SerenaAt(1, 24290, "alpha"), daemontest.SerenaAt(2, 24282, "beta")},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"))
			d.logs = &script{answers: []answer{{[]string{"a", "b", "c"}, 2, nil}, {nil, 0, nil}}}
			d.Pause = func(ctx context.Context, _ time.Duration) error {
				d.snap = &monitor.Snapshot{Instances: daemontest.List(list...)}
				return ctx.Err()
			}
			if got := d.runs(t, "logs", "-f", "alpha"); got != 0 || d.out.String() != "a\nb\nc\n" {
				t.Errorf("status %d, printed %q", got, d.out.String())
			}
			if got := d.err.String(); got != "lamplighter: 1 - alpha has ended\n" {
				t.Errorf("said %q", got)
			}
		})
	}
}

func TestLogsFollowIsInterrupted(t *testing.T) {
	d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"))
	d.logs = &script{answers: []answer{{[]string{"a"}, 0, nil}}}
	ctx, cancel := context.WithCancel(t.Context())
	d.Pause = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	if got := d.main(ctx, []string{"logs", "-f", "alpha"}); got != 0 || d.err.String() != "" {
		t.Errorf("status %d, said %q", got, d.err.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestLogsFollowEndsWhenTheOutputFails(t *testing.T) {
	d := newDesktop(t, daemontest.SerenaAt(1, 24282, "alpha"))
	d.logs = &script{answers: []answer{{nil, -1, nil}, {[]string{"a"}, 0, nil}}}
	d.Stdout = full{}
	if got := d.runs(t, "logs", "-f", "alpha"); got != 1 {
		t.Errorf("status %d", got)
	}
	apptest.Contains(t, d.err.String(), "disk full")
}

func TestCleanLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		for _, r := range cleanLog(text) {
			if r != '\n' && r != '\t' && monitor.Unprintable(r) {
				t.Errorf("%U is left of %q", r, text)
			}
		}
	})
	if s := "plain\n\ttext é水"; cleanLog(s) != s || strings.Contains(cleanLog("\x1b]0;x\a"), "\x1b") {
		t.Error(cleanLog(s))
	}
}
