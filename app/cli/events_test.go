package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
)

// happened writes events, each an hour after the one before, the last just now.
func (d *desktop) happened(t *testing.T, list ...monitor.Event) {
	t.Helper()
	l := events.New(events.Options{Dir: d.places().StateDir})
	for i, e := range list {
		e.At = time.Now().Add(time.Duration(i-len(list)+1) * time.Hour)
		if e.ID == "" {
			e.ID, e.PID = "7-70", 7
		}
		l.Append(e)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

func day() []monitor.Event {
	var list []monitor.Event
	for range 30 {
		list = append(list, monitor.Event{Kind: monitor.EventStopped, Label: "24282 - alpha", Detail: "ran 3 h"})
	}
	return append(list, []monitor.Event{
		{Kind: monitor.EventStarted, Label: "24282 - alpha", Detail: "by Codex"},
		{Kind: monitor.EventHeartbeatRestored, Label: "24283 - 水の流れ", Detail: "was unreachable"},
		{Kind: monitor.EventZombieDetected, Label: "24284 - " + strings.Repeat("long", 20), Detail: "suspended: it was \x1b[2Jstopped"},
		{Kind: "something_new", Label: "x"},
	}...)
}

func TestEvents(t *testing.T) {
	d := newDesktop(t)
	d.happened(t, day()...)
	if got := d.runs(t, "events", "--since", "3h"); got != 0 || d.err.String() != "" {
		t.Fatal(got, d.err.String())
	}
	lines := strings.Split(strings.TrimSuffix(d.out.String(), "\n"), "\n")
	want := []string{
		"WHAT                SERVER                                DETAIL",
		"heartbeat restored  24283 - 水の流れ                      was unreachable",
		"needs attention     24284 - longlongl…longlonglonglongl  suspended: it was [2Jstopped",
		"something_new       x",
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines:\n%s", len(lines), d.out.String())
	}
	for i, line := range lines {
		at, rest := line[:timeColumns], line[timeColumns+2:]
		if i == 2 {
			if !strings.HasPrefix(rest, "needs attention     24284 - long") || !strings.HasSuffix(rest, "long  suspended: it was [2Jstopped") {
				t.Errorf("line 2: %q", rest)
			}
		} else if rest != want[i] {
			t.Errorf("line %d: %q, want %q", i, rest, want[i])
		}
		if _, err := time.ParseInLocation(time.DateTime, at, time.Local); err != nil && i > 0 {
			t.Errorf("line %d: %v", i, err)
		}
	}
}

func TestEventsOfADay(t *testing.T) {
	d := newDesktop(t)
	d.happened(t, day()...)
	d.runs(t, "events")
	if n := strings.Count(d.out.String(), "\n"); n != 1+24 {
		t.Errorf("%d lines:\n%s", n, d.out.String())
	}
	for since, want := range map[string]int{"36h": len(day()), "2d": len(day()), "90m": 2, "2020-01-01": len(day()), "2020-01-01T00:00:00Z": len(day())} {
		d := newDesktop(t)
		d.happened(t, day()...)
		if d.runs(t, "events", "--since", since); strings.Count(d.out.String(), "\n") != 1+want {
			t.Errorf("%s: %d lines, want %d", since, strings.Count(d.out.String(), "\n"), 1+want)
		}
	}
}

func TestEventsOnAScreen(t *testing.T) {
	d := newDesktop(t)
	d.screen = screen{terminal: true, colour: true, width: 60}
	d.happened(t, day()...)
	d.runs(t, "events", "--since", "3h")
	apptest.Contains(t, d.out.String(), "\x1b[31mneeds attention\x1b[0m", "\x1b[32mheartbeat restored\x1b[0m", "\x1b[90msomething_new\x1b[0m")
	for line := range strings.Lines(d.out.String()) {
		line = strings.TrimSuffix(line, "\n")
		for _, code := range []string{"\x1b[31m", "\x1b[32m", "\x1b[90m", "\x1b[0m"} {
			line = strings.ReplaceAll(line, code, "")
		}
		if n := monitor.Columns(line); n > 60 || strings.ContainsFunc(line, monitor.Unprintable) {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// --json prints the lines as they are in the file.
func TestEventsJSON(t *testing.T) {
	d := newDesktop(t)
	d.happened(t, day()...)
	if got := d.runs(t, "events", "--json", "--since", "3d"); got != 0 || d.err.String() != "" {
		t.Fatal(got, d.err.String())
	}
	file, err := os.ReadFile(filepath.Join(d.places().StateDir, "events.jsonl"))
	if err != nil || d.out.String() != string(file) {
		t.Errorf("got  %s\nwant %s, %v", d.out.String(), file, err)
	}
	var e map[string]any
	first, _, _ := strings.Cut(d.out.String(), "\n")
	if err := json.Unmarshal([]byte(first), &e); err != nil || len(e) != 6 || e["kind"] != "stopped" {
		t.Errorf("%v, %v", e, err)
	}
	d = newDesktop(t)
	if got := d.runs(t, "events", "--json"); got != 0 || d.out.String() != "" {
		t.Errorf("nothing: %d, %q", got, d.out.String())
	}
}

func TestNoEvents(t *testing.T) {
	d := newDesktop(t)
	if got := d.runs(t, "events"); got != 0 || d.err.String() != "" {
		t.Errorf("%d, %q", got, d.err.String())
	}
	apptest.Contains(t, d.out.String(), "Nothing has happened in the last 24 hours; --since 7d goes further back.", "lamplighter run")
	d = newDesktop(t)
	d.runs(t, "events", "--since", "1h")
	apptest.Contains(t, d.out.String(), "Nothing has happened since then.")
}

func TestEventsFail(t *testing.T) {
	for _, since := range []string{"x", "-1h", "1", "soon", "2026-13-01"} {
		d := newDesktop(t)
		if got := d.runs(t, "events", "--since", since); got != 2 || !strings.HasPrefix(d.err.String(), "lamplighter: events: --since: \""+since+"\" is not a time; write it like 90m, 1h, 2d,") {
			t.Errorf("%q: %d, %q", since, got, d.err.String())
		}
	}
	d := newDesktop(t)
	d.base.StateHome = ""
	if got := d.runs(t, "events"); got != 1 || !strings.Contains(d.err.String(), "LAMPLIGHTER_STATE_DIR is not set") {
		t.Errorf("no place: %d, %q", got, d.err.String())
	}
	d = newDesktop(t)
	d.happened(t, day()...)
	d.stdout = full{}
	if got := d.runs(t, "events"); got != 1 || !strings.Contains(d.err.String(), "disk full") {
		t.Errorf("full disk: %d, %q", got, d.err.String())
	}
	// What is broken is counted, the rest shown.
	d = newDesktop(t)
	d.happened(t, day()...)
	file, err := os.OpenFile(filepath.Join(d.places().StateDir, "events.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("\x1b[2J\n{\n")
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if got := d.runs(t, "events"); got != 0 || d.err.String() != "lamplighter: 2 lines of the lifecycle log cannot be read and were left out\n" {
		t.Errorf("broken: %d, %q", got, d.err.String())
	}
}

func TestEventsFollow(t *testing.T) {
	d := newDesktop(t)
	d.happened(t, day()...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- d.main(ctx, []string{"events", "-f"}) }()
	apptest.Eventually(t, "the last ones", func() bool { return strings.Count(d.out.String(), "\n") == 1+eventsAtFirst })
	d.happened(t, monitor.Event{Kind: monitor.EventStarted, Label: "24299 - next", Detail: "by Codex"})
	apptest.Eventually(t, "the next one", func() bool { return strings.Contains(d.out.String(), "24299 - next") })
	cancel()
	if got := <-ended; got != 0 || d.err.String() != "" || strings.Count(d.out.String(), "DETAIL") != 1 {
		t.Errorf("ended with %d, %q:\n%s", got, d.err.String(), d.out.String())
	}
}

func TestLifecycle(t *testing.T) {
	d := newDesktop(t)
	d.happened(t, day()...)
	log := lifecycle{d.places().StateDir}
	if list, err := log.Events(time.Now().Add(-90 * time.Minute)); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := (lifecycle{}).Events(noon); !errors.Is(err, errNoStateDir) {
		t.Error(err)
	}
}
