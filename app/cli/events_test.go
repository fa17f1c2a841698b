package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/events"
)

// happened writes events, each an hour after the one before, the last just now.
func (d *desktop) happened(t *testing.T, list ...monitor.Event) {
	t.Helper()
	for i, e := range list {
		e.At = time.Now().Add(time.Duration(i-len(list)+1) * time.Hour)
		if e.ID == "" {
			e.ID, e.PID = "7-70", 7
		}
		if _, err := events.Write(d.Places().StateDir, e); err != nil {
			t.Fatal(err)
		}
	}
}

func day() []monitor.Event {
	var list []monitor.Event
	for range 30 {
		list = append(list, monitor.Event{Kind: monitor.EventStopped, Label: "2 - alpha", Detail: "ran 3 h"})
	}
	return append(list, []monitor.Event{
		{Kind: monitor.EventStarted, Label: "2 - alpha", Detail: "by Codex"},
		{Kind: monitor.EventHeartbeatRestored, Label: "24283 - 水の流れ", Detail: "was unreachable"},
		{Kind: monitor.EventZombieDetected, Label: "24284 - " + strings.Repeat("long", 20), Detail: "suspended: it was \x1b[2Jstopped"},
		{Kind: "something_new", Label: "x"},
	}...)
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

// --json prints the lines as they are in the file.
func TestEventsJSON(t *testing.T) {
	d := newDesktop(t)
	d.happened(t, day()...)
	if got := d.runs(t, "events", "--json", "--since", "3d"); got != 0 || d.err.String() != "" {
		t.Fatal(got, d.err.String())
	}
	file, err := os.ReadFile(filepath.Join(d.Places().StateDir, "events.jsonl"))
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

func TestEventsFail(t *testing.T) {
	for _, since := range []string{"x", "-1h", "1", "soon", "2026-13-01"} {
		d := newDesktop(t)
		if got := d.runs(t, "events", "--since", since); got != 2 || !strings.HasPrefix(d.err.String(), "lamplighter: events: --since: \""+since+"\" is not a time; write it like 90m, 1h, 2d,") {
			t.Errorf("%q: %d, %q", since, got, d.err.String())
		}
	}
	d := newDesktop(t)
	d.Base.StateHome = ""
	if got := d.runs(t, "events"); got != 1 || !strings.Contains(d.err.String(), "LAMPLIGHTER_STATE_DIR is not set") {
		t.Errorf("no place: %d, %q", got, d.err.String())
	}
	d = newDesktop(t)
	d.happened(t, day()...)
	d.Stdout = full{}
	if got := d.runs(t, "events"); got != 1 || !strings.Contains(d.err.String(), "disk full") {
		t.Errorf("full disk: %d, %q", got, d.err.String())
	}
	// What is broken is counted, the rest shown.
	d = newDesktop(t)
	d.happened(t, day()...)
	file, err := os.OpenFile(filepath.Join(d.Places().StateDir, "events.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
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
