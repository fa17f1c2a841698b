package policy

import (
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0.5 s":      500 * time.Millisecond,
		"3 s":        3 * time.Second,
		"59 s":       59 * time.Second,
		"1 min":      time.Minute,
		"1 min 30 s": 90 * time.Second,
		"30 min":     30 * time.Minute,
		"1 h":        time.Hour,
		"1 h 30 min": 90 * time.Minute,
		"47 h":       47 * time.Hour,
		"2 days":     48 * time.Hour,
		"2 days 1 h": 49 * time.Hour,
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	east := time.FixedZone("east", 3600)
	for _, c := range []struct {
		t, now time.Time
		want   string
	}{
		{ago(2 * time.Hour), noon, "10:00"},
		{ago(2 * time.Hour), noon.In(east), "11:00"},
		{ago(12 * time.Hour), noon, "00:00"},
		{ago(13 * time.Hour), noon, "20 Nov 23:00"},
		{ago(12*time.Hour + time.Minute), noon.In(east), "00:59"},
		{noon.Add(24 * time.Hour), noon, "22 Nov 12:00"},
		{ago(365 * 24 * time.Hour), noon, "21 Nov 2025 12:00"},
	} {
		if got := clock(c.t, c.now); got != c.want {
			t.Errorf("%v at %v: %q, want %q", c.t, c.now, got, c.want)
		}
	}
}

func TestClient(t *testing.T) {
	for _, c := range []struct {
		client *monitor.Client
		want   string
	}{
		{nil, "its client"},
		{&monitor.Client{}, "its client"},
		{&monitor.Client{Name: "Codex"}, "its client Codex"},
		{&monitor.Client{Identity: monitor.Identity{PID: 7}}, "its client (7)"},
		{&monitor.Client{Identity: monitor.Identity{PID: 7}, Name: "a\x1b[2Jb"}, "its client a[2Jb (7)"},
	} {
		if got := client(&monitor.Instance{Client: c.client}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.client, got, c.want)
		}
	}
}
