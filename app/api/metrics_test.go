package api

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

var (
	commentLine = regexp.MustCompile(`^# (HELP|TYPE) ([a-z_]+) (.+)$`)
	sampleLine  = regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? (\S+)$`)
)

// readMetrics checks a text strictly by Prometheus' format and returns its
// samples, by name and labels.
func readMetrics(t testing.TB, text string) map[string]float64 {
	t.Helper()
	samples := map[string]float64{}
	family, families := "", map[string]bool{}
	if !strings.HasSuffix(text, "\n") {
		t.Error("the last line has no end")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if c := commentLine.FindStringSubmatch(line); c != nil {
			if c[1] == "HELP" {
				if families[c[2]] {
					t.Errorf("family %s comes twice", c[2])
				}
				family, families[c[2]] = c[2], true
			} else if c[2] != family || c[3] != "gauge" && c[3] != "counter" {
				t.Errorf("wrong type: %s", line)
			}
			continue
		}
		s := sampleLine.FindStringSubmatch(line)
		if s == nil || s[1] != family {
			t.Errorf("not a sample of %s: %q", family, line)
			continue
		}
		value, err := strconv.ParseFloat(s[3], 64)
		if _, twice := samples[s[1]+s[2]]; err != nil || twice {
			t.Errorf("%q: %v, twice %v", line, err, twice)
		}
		samples[s[1]+s[2]] = value
	}
	return samples
}

func TestMetrics(t *testing.T) {
	hostile := instance(7, "a\"b\\c\nd\u202e}\x00 \xff")
	hostile.RSSBytes, hostile.Processes = 1<<20, 3
	cpu, calls, busy := 250.0, int64(0), true
	hostile.CPUPercent, hostile.ToolCalls, hostile.Busy = &cpu, &calls, &busy
	hostile.StartedAt = time.Unix(1000, 5e8)
	bare := instance(8, "")
	bare.State = monitor.StateZombie
	bare.Cause = monitor.CauseOrphaned
	nan := math.NaN()
	bare.CPUPercent = &nan
	shared, alone := instance(9, "shared"), instance(10, "alone")
	shared.Sharing = &monitor.Sharing{Clients: make([]monitor.Client, 3), Waiting: 2, SavedBytes: 5000}
	alone.Sharing = &monitor.Sharing{Clients: make([]monitor.Client, 1), Alone: "its context"}
	parked := shared
	parked.Identity.PID, parked.State, parked.Sharing = 11, monitor.StateParked, &monitor.Sharing{Clients: make([]monitor.Client, 1), SavedBytes: 1}
	m := newModel()
	m.set(snapshot(hostile, bare, shared, alone, parked))
	p := parts(m, shower{})
	p.Version, p.GivenBack = `1"2`, func() (uint64, time.Time) { return 77, time.Time{} }
	w := try(t, Handler(p), "GET", "/metrics", "")
	samples := readMetrics(t, w.Body.String())
	of := `{id="7-7",label="7 - a\"b\\c d} ` + "\ufffd" + `"`
	for name, want := range map[string]float64{
		`lamplighter_instances{state="live_with_project"}`:                   3,
		`lamplighter_instances{state="zombie"}`:                              1,
		`lamplighter_instances{state="parked"}`:                              1,
		`lamplighter_leases{shared="true"}`:                                  4,
		`lamplighter_leases{shared="false"}`:                                 1,
		`lamplighter_saved_bytes`:                                            5001,
		`lamplighter_instance_leases{id="9-7",label="9 - shared"}`:           3,
		`lamplighter_instance_waiting_requests{id="9-7",label="9 - shared"}`: 2,
		`lamplighter_instance_leases{id="11-7",label="parked - shared"}`:     1,
		`lamplighter_instances_resident_memory_bytes`:                        1 << 20,
		`lamplighter_instances_left_out`:                                     0,
		`lamplighter_given_back_bytes`:                                       77,
		`lamplighter_instance_resident_memory_bytes` + of + `}`:              1 << 20,
		`lamplighter_instance_cpu_ratio` + of + `}`:                          2.5,
		`lamplighter_instance_tool_calls_total` + of + `}`:                   0,
		`lamplighter_instance_busy` + of + `}`:                               1,
		`lamplighter_instance_start_time_seconds` + of + `}`:                 1000.5,
		`lamplighter_instance_pinned` + of + `}`:                             0,
		`lamplighter_instance_state` + of + `,kind="serena",project="a\"b\\c d} ` + "\ufffd" + `",state="live_with_project",cause=""}`: 1,
		`lamplighter_instance_state{id="8-7",label="8 - NO PROJECT",kind="serena",project="",state="zombie",cause="orphaned"}`:         1,
	} {
		if got, ok := samples[name]; !ok || got != want {
			t.Errorf("%s: %v, %v; want %v", name, got, ok, want)
		}
	}
	for name := range samples {
		if strings.Contains(name, `id="8-7"`) && !strings.HasPrefix(name, "lamplighter_instance_state") && !strings.HasPrefix(name, "lamplighter_instance_pinned") {
			t.Errorf("made up: %s", name)
		}
	}
	if samples["process_resident_memory_bytes"] < 1<<20 {
		t.Errorf("our own memory: %v", samples["process_resident_memory_bytes"])
	}
	// It shrinks when a log that was rotated is read anew, which no counter may.
	apptest.Contains(t, w.Body.String(), "# TYPE lamplighter_given_back_bytes gauge\n")
	apptest.Contains(t, w.Body.String(), `lamplighter_build_info{version="1\"2",go="go`)
}

func TestMetricsAreBounded(t *testing.T) {
	list := make([]monitor.Instance, mostMeasured+5)
	for i := range list {
		list[i] = instance(i+1, strings.Repeat("long", 100)+fmt.Sprint(i))
		list[i].RSSBytes = 1
	}
	m := newModel()
	m.set(snapshot(list...))
	w := try(t, Handler(parts(m, shower{})), "GET", "/metrics", "")
	samples := readMetrics(t, w.Body.String())
	if samples["lamplighter_instances_left_out"] != 5 || samples["lamplighter_instances_resident_memory_bytes"] != mostMeasured+5 {
		t.Errorf("left out %v, in all %v", samples["lamplighter_instances_left_out"], samples["lamplighter_instances_resident_memory_bytes"])
	}
	if n := strings.Count(w.Body.String(), "\nlamplighter_instance_state{"); n != mostMeasured {
		t.Errorf("%d are listed", n)
	}
	if w.Body.Len() > 2<<20 {
		t.Errorf("%d bytes", w.Body.Len())
	}
}
