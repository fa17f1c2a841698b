package events

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// SinceForms are examples of what ParseSince reads, for messages and help.
const SinceForms = "90m, 1h, 2d, yesterday, 2026-11-21 or 2026-11-21T14:00:00Z"

var spans = regexp.MustCompile(`^(?:\d+(?:w|d|h|m|min|s))+$`)
var span = regexp.MustCompile(`(\d+)(min|w|d|h|m|s)`)

// ParseSince reads a time in the past as people write it: how long ago (weeks
// w, days d, hours h, minutes m or min, seconds s, also together as in 1h30m),
// today, yesterday, a date, a date with a time of the day, or RFC 3339. Where
// no zone is given it is that of now.
func ParseSince(text string, now time.Time) (time.Time, error) {
	word := strings.ToLower(strings.TrimSpace(text))
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch {
	case word == "today":
		return midnight, nil
	case word == "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	case spans.MatchString(word):
		if ago, ok := duration(word); ok {
			return now.Add(-ago), nil
		}
		return time.Time{}, fmt.Errorf("%.40q is too long ago", word)
	}
	word = strings.ToUpper(word) // RFC 3339 has T and Z
	for _, form := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05", time.RFC3339} {
		if at, err := time.ParseInLocation(form, word, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write it like %s", monitor.Shorten(monitor.Clean(text), 40), SinceForms)
}

// duration sums spans up; not ok when they are beyond what a Duration holds,
// 292 years.
func duration(word string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "min": time.Minute, "s": time.Second,
	}
	var sum time.Duration
	for _, part := range span.FindAllStringSubmatch(word, -1) {
		n, err := strconv.ParseInt(part[1], 10, 64)
		unit := units[part[2]]
		if err != nil || n > int64((math.MaxInt64-sum)/unit) {
			return 0, false
		}
		sum += time.Duration(n) * unit
	}
	return sum, true
}
