//go:build real && bench && linux

package bench

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// unknown stands for a figure that there is none of: nothing to compare with,
// or no target.
var unknown = math.NaN()

// row is one line of the table: what people have today beside what we need,
// and the most that we want to need. A name that begins with "…" goes on with
// that of the row above, and "(today: X)" in a name tells what it is beside.
type row struct {
	what         string
	theirs, ours float64
	unit         string
	target       float64
	below        bool // the target itself is too much

	part, beside string // filled in by add
}

func (r row) ratio() string {
	if math.IsNaN(r.theirs) || r.theirs <= 0 || r.ours <= 0 {
		return "-"
	}
	return strconv.FormatFloat(r.theirs/r.ours, 'g', 3, 64)
}

func (r row) wanted() string {
	switch {
	case math.IsNaN(r.target):
		return "-"
	case r.below:
		return "< " + r.figure(r.target)
	case r.target == 0:
		return "none"
	}
	return "≤ " + r.figure(r.target)
}

// verdict says whether the target is met. A miss is a finding, not a failure:
// no test asserts a time.
func (r row) verdict() string {
	switch {
	case math.IsNaN(r.target):
		return "-"
	case r.ours < r.target, r.ours == r.target && !r.below:
		return "pass"
	}
	return "miss"
}

func (r row) figure(n float64) string {
	switch {
	case math.IsNaN(n):
		return "-"
	case math.Abs(n) < 10:
		return strings.TrimSpace(strconv.FormatFloat(n, 'g', 3, 64) + " " + r.unit)
	}
	return strings.TrimSpace(strconv.FormatFloat(n, 'f', 0, 64) + " " + r.unit)
}

// report is the table. A line is printed when it is measured, and all of it at
// the end.
type report struct {
	rows   []row
	part   string   // that is being measured
	failed []string // parts whose rows are missing, all or some
}

// usual is what people have today where a row does not say.
const usual = "Serena's tray manager"

var besideWords = regexp.MustCompile(` \(today: ([^)]*)\)`)

func (r *report) add(rows ...row) {
	for _, line := range rows {
		line.part, line.beside = r.part, r.besideOf(line)
		line.what = besideWords.ReplaceAllString(line.what, "")
		fmt.Printf("measured: %s: %s, today %s\n", line.what, line.figure(line.ours), line.figure(line.theirs))
		r.rows = append(r.rows, line)
	}
}

// besideOf names what a row is beside: what it says itself, or what the row says
// with which it goes on.
func (r *report) besideOf(line row) string {
	if math.IsNaN(line.theirs) {
		return ""
	}
	var said []string
	for _, each := range besideWords.FindAllStringSubmatch(line.what, -1) {
		said = append(said, each[1])
	}
	switch {
	case len(said) > 0:
		return strings.Join(said, ", ")
	case strings.HasPrefix(line.what, "…") && len(r.rows) > 0 && r.rows[len(r.rows)-1].beside != "":
		return r.rows[len(r.rows)-1].beside
	}
	return usual
}

// percentile is the smallest sample that is not below p percent of them.
func percentile(samples []float64, p float64) float64 {
	if len(samples) == 0 {
		return unknown
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[max(int(math.Ceil(p/100*float64(len(sorted))))-1, 0)]
}

// spread makes two rows of samples in milliseconds, the target being the
// second's.
func spread(what string, theirs, ours []float64, target float64) []row {
	name := func(p string) string {
		name := fmt.Sprintf("%s, %s of %d", what, p, len(ours))
		if len(theirs) != len(ours) && len(theirs) > 0 {
			name += fmt.Sprintf(" (today: of %d)", len(theirs))
		}
		return name
	}
	return []row{
		{what: name("p50"), theirs: percentile(theirs, 50), ours: percentile(ours, 50), unit: "ms", target: unknown},
		{what: name("p99"), theirs: percentile(theirs, 99), ours: percentile(ours, 99), unit: "ms", target: target},
	}
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// loadAverage is the load average of the last minute, of the whole machine.
func loadAverage(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(first, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
