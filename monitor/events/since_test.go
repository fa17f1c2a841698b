package events

import (
	"strings"
	"testing"
	"time"
)

func TestParseSince(t *testing.T) {
	zone := time.FixedZone("", 3600)
	now := time.Date(2026, 3, 1, 14, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"1h": now.Add(-time.Hour), "90m": now.Add(-90 * time.Minute), "90min": now.Add(-90 * time.Minute), "2d": now.Add(-48 * time.Hour),
		"1h30m": now.Add(-90 * time.Minute), "1w": now.Add(-7 * 24 * time.Hour), " 5S ": now.Add(-5 * time.Second), "0s": now,
		"today": time.Date(2026, 3, 1, 0, 0, 0, 0, zone), "Yesterday": time.Date(2026, 2, 28, 0, 0, 0, 0, zone),
		"2026-11-21": time.Date(2026, 11, 21, 0, 0, 0, 0, zone), "2026-11-21 14:05": time.Date(2026, 11, 21, 14, 5, 0, 0, zone),
		"2026-11-21T14:05:06":  time.Date(2026, 11, 21, 14, 5, 6, 0, zone),
		"2026-11-21T14:05:06Z": time.Date(2026, 11, 21, 14, 5, 6, 0, time.UTC), "2026-11-21t14:05:06.5+02:00": time.Date(2026, 11, 21, 12, 5, 6, 5e8, time.UTC),
	} {
		if got, err := ParseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "h", "1", "-1h", "1.5h", "1 h", "1h x", "1y", "2026-13-01", "tomorrow", "\x1b[2J", strings.Repeat("9", 30) + "w", "99999999d99999999d"} {
		if got, err := ParseSince(text, now); err == nil {
			t.Errorf("%q passes as %v", text, got)
		}
	}
}
