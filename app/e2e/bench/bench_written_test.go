//go:build real && bench && linux

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// machine is where and when the rows were measured.
type machine struct {
	Date     string  `json:"date"` // RFC 3339, when it began
	Revision string  `json:"revision"`
	Parts    string  `json:"parts"` // as asked for, separated by blanks
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	Memory   int     `json:"memory_bytes"`
	Kernel   string  `json:"kernel"`
	Load     float64 `json:"load"` // average of the minute before
}

func thisMachine(t *testing.T) machine {
	t.Helper()
	cpus, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	// Other architectures than x86 do not name it.
	model := runtime.GOARCH
	if _, rest, ok := strings.Cut(string(cpus), "model name"); ok {
		line, _, _ := strings.Cut(rest, "\n")
		model = strings.TrimSpace(strings.TrimLeft(line, "\t :"))
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	return machine{
		Date: time.Now().UTC().Format(time.RFC3339), Revision: os.Getenv("LAMPLIGHTER_TEST_BENCH_REVISION"), Parts: os.Getenv("LAMPLIGHTER_TEST_BENCH_PARTS"),
		CPU: model, Cores: runtime.NumCPU(), Memory: statusField(t, "/proc/meminfo", "MemTotal") * 1024,
		Kernel: unix.ByteSliceToString(name.Release[:]), Load: loadAverage(t),
	}
}

// jsonRow is a row as programs read it. What is not known is null.
type jsonRow struct {
	Part     string   `json:"part"`
	What     string   `json:"what"`
	Beside   *string  `json:"beside"` // what the baseline is of
	Baseline *float64 `json:"baseline"`
	Ours     *float64 `json:"ours"`
	Unit     string   `json:"unit"`  // of the baseline, ours and the target; empty for counts
	Ratio    *float64 `json:"ratio"` // baseline / ours
	Target   *float64 `json:"target"`
	Below    bool     `json:"below"`  // the target itself is too much
	Result   *string  `json:"result"` // pass or miss
}

func (r row) json() jsonRow {
	known := func(n float64) *float64 {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return nil
		}
		return &n
	}
	said := func(text string) *string {
		if text == "" || text == "-" {
			return nil
		}
		return &text
	}
	out := jsonRow{
		Part: r.part, What: r.what, Beside: said(r.beside), Baseline: known(r.theirs), Ours: known(r.ours), Unit: r.unit,
		Target: known(r.target), Below: r.below, Result: said(r.verdict()),
	}
	if r.ratio() != "-" {
		out.Ratio = known(r.theirs / r.ours)
	}
	return out
}

// write makes bench.md and bench.json, which ./build.sh bench prints.
func (r *report) write(t *testing.T, on machine) {
	t.Helper()
	rows := make([]jsonRow, 0, len(r.rows))
	for _, each := range r.rows {
		rows = append(rows, each.json())
	}
	text, err := json.MarshalIndent(struct {
		machine
		Failed []string  `json:"failed,omitempty"` // parts whose rows are missing, all or some
		Rows   []jsonRow `json:"rows"`
	}{on, r.failed, rows}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("LAMPLIGHTER_TEST_BENCH_DIR")
	if dir == "" {
		dir = t.TempDir() // go test was run by hand
	}
	for name, content := range map[string][]byte{"bench.json": append(text, '\n'), "bench.md": r.markdown(on)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// markdown is the table with a line above it that says where and when.
func (r *report) markdown(on machine) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "Measured at %s in one run, parts: %s; lamplighter %s; %d cores, %s, %.0f GB, Linux %s, load before %.1f.\n\n",
		on.Date, on.Parts, on.Revision, on.Cores, on.CPU, float64(on.Memory)/1e9, on.Kernel, on.Load)
	if len(r.failed) > 0 {
		fmt.Fprintf(&out, "Failed, so that its rows are missing, all or some: %s.\n\n", strings.Join(r.failed, ", "))
	}
	line := func(cells ...string) { fmt.Fprintln(&out, "| "+strings.Join(cells, " | ")+" |") }
	line("what", "baseline (which)", "ours", "ratio", "target", "result")
	line("---", "---", "---", "---", "---", "---")
	for _, each := range r.rows {
		theirs, verdict := each.figure(each.theirs), each.verdict()
		if each.beside != "" {
			theirs += " (" + each.beside + ")"
		}
		if verdict == "miss" {
			verdict = "**miss**"
		}
		line(each.what, theirs, each.figure(each.ours), each.ratio(), each.wanted(), verdict)
	}
	return out.Bytes()
}
