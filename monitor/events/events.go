// Package events keeps the lifecycle log: events.jsonl in the state directory,
// one monitor.Event per line as JSON, appended to by any number of processes,
// rotated, read and followed.
//
// What an event is, and which ones there are, is in package monitor; who sees
// them happen in monitor/watch and monitor/stop.
package events

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"lamplighter/monitor/plainfile"
)

// The names in the state directory. Rotated files carry the time (UTC) at which
// they were set aside, so that their names sort by age.
const (
	fileName    = "events.jsonl"
	lockName    = "events.lock" // held while the file is rotated
	rotatedForm = "events-2006-01-02T15-04-05.000.jsonl"
)

var rotatedName = regexp.MustCompile(`^events-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.jsonl$`)

// The sizes at which a file is set aside and how many of those are kept.
const (
	fileSize    = 5 << 20 // bytes
	rotatedKept = 2
)

// rotated lists the names of the rotated files in dir, oldest first.
func rotated(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, plainfile.Error(err, dir)
	}
	var names []string
	for _, e := range entries {
		if rotatedName.MatchString(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// rotatedAt is the first free name for a file that is set aside now: two may
// be in one millisecond, and a clock may be set back.
func rotatedAt(now time.Time, taken []string) string {
	for {
		name := now.UTC().Format(rotatedForm)
		if !slices.Contains(taken, name) && (len(taken) == 0 || name > taken[len(taken)-1]) {
			return name
		}
		if last, err := time.Parse(rotatedForm, taken[len(taken)-1]); err == nil {
			now = last
		}
		now = now.Add(time.Millisecond)
	}
}

func path(dir string) string { return filepath.Join(dir, fileName) }
