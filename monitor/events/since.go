package events

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// SinceForms are examples of what ParseSince reads, for messages and help.
const SinceForms = "90m, 1h, 2d, yesterday, 2026-11-21 or 2026-11-21T14:00:00Z"

// span is a span of Go, before which weeks and days may stand.
var span = regexp.MustCompile(`^(?:(\d{1,4})w)?(?:(\d{1,4})d)?((?:\d+(?:h|min|m|s))*)$`)

// ParseSince reads a time in the past as people write it: how long ago (weeks
// w, days d, hours h, minutes m or min, seconds s, also together as in 1d12h),
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
	}
	if parts := span.FindStringSubmatch(word); word != "" && parts != nil {
		weeks, _ := strconv.Atoi(parts[1])
		days, _ := strconv.Atoi(parts[2])
		if rest, err := time.ParseDuration("0s" + strings.ReplaceAll(parts[3], "min", "m")); err == nil {
			return now.Add(-time.Duration(7*weeks+days) * 24 * time.Hour).Add(-rest), nil
		}
	}
	word = strings.ToUpper(word) // RFC 3339 has T and Z
	for _, form := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05", time.RFC3339} {
		if at, err := time.ParseInLocation(form, word, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write it like %s", monitor.Shorten(monitor.Clean(text), 40), SinceForms)
}
