package api

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"lamplighter/app/session"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/view"
)

// The bounds of what is measured.
const (
	mostMeasured = 1000 // instances; the sums are of all
	maxLabel     = 100  // columns
)

var allStates = []monitor.State{
	monitor.StateStarting, monitor.StateProject, monitor.StateNoProject, monitor.StateLive, monitor.StateZombie, monitor.StateParked,
}

// metrics answers in Prometheus' text format, version 0.0.4. What is not known
// is left out.
func (r routes) metrics(w http.ResponseWriter, req *http.Request) {
	s := r.snapshot(w, req)
	if s == nil {
		return
	}
	var m exposition
	m.family("lamplighter_build_info", "gauge", "The version that runs.")
	m.sample(1, "version", r.parts.Version, "go", runtime.Version())
	r.measureItself(&m)
	measureSums(&m, s)
	if r.parts.GivenBack != nil {
		bytes, _ := r.parts.GivenBack()
		m.family("lamplighter_given_back_bytes", "gauge", "Resident memory of the instances that lamplighter has ended, as far as its log goes back.")
		m.sample(float64(bytes))
	}
	r.measureSessions(&m)
	measureInstances(&m, s.Instances[:min(len(s.Instances), mostMeasured)], time.Now())

	header := w.Header()
	header.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if _, err := w.Write(m.text.Bytes()); err != nil {
		r.parts.Log.Debug("an answer was not taken", "error", err)
	}
}

// measureItself measures our own process, by the names that Prometheus' own
// libraries use.
func (r routes) measureItself(m *exposition) {
	if memory, err := process.ResidentMemory(os.Getpid()); err == nil {
		m.family("process_resident_memory_bytes", "gauge", "Resident memory of lamplighter itself.")
		m.sample(float64(memory))
	}
	if stat, err := process.ReadStat(os.Getpid()); err == nil {
		m.family("process_cpu_seconds_total", "counter", "Time on a CPU of lamplighter itself.")
		m.sample(stat.CPU.Seconds())
	}
	m.family("process_start_time_seconds", "gauge", "When lamplighter began, in seconds since the epoch.")
	m.sample(float64(r.startedAt.UnixMilli()) / 1000)
	m.family("lamplighter_streams", "gauge", "Streams that are open.")
	m.sample(float64(len(r.streams)))
}

func measureSums(m *exposition, s *monitor.Snapshot) {
	count := map[monitor.State]int{}
	for _, in := range s.Instances {
		count[in.State]++
	}
	m.family("lamplighter_instances", "gauge", "Instances by state.")
	for _, state := range allStates {
		m.sample(float64(count[state]), "state", string(state))
	}
	m.family("lamplighter_instances_resident_memory_bytes", "gauge", "Resident memory of all instances and what runs below them.")
	totals := s.Totals()
	m.sample(float64(totals.RSSBytes + totals.GivenUpBytes))
	shared, alone := 0, 0
	for _, in := range s.Instances {
		switch {
		case in.IsShared():
			shared += len(in.Sharing.Clients)
		case in.Sharing != nil:
			alone += len(in.Sharing.Clients)
		}
	}
	m.family("lamplighter_leases", "gauge", "Clients that have a server through lamplighter, by whether it can be shared.")
	m.sample(float64(shared), "shared", "true")
	m.sample(float64(alone), "shared", "false")
	m.family("lamplighter_saved_bytes", "gauge", "Resident memory that separate servers would need besides, estimated.")
	m.sample(float64(totals.SavedBytes))
	m.family("lamplighter_instances_left_out", "gauge", "Instances that are not listed one by one, because there are too many.")
	m.sample(float64(max(len(s.Instances)-mostMeasured, 0)))
}

func (r routes) measureSessions(m *exposition) {
	if r.parts.Sessions == nil {
		return
	}
	count := map[session.State]int{}
	for _, s := range r.parts.Sessions.List() {
		count[s.State]++
	}
	m.family("lamplighter_sessions", "gauge", "Sessions by state.")
	for _, state := range []session.State{session.StateStarting, session.StateRunning, session.StateEnding} {
		m.sample(float64(count[state]), "state", string(state))
	}
}

// measureInstances gives one sample of each instance to each family, which the
// format wants together.
func measureInstances(m *exposition, list []*monitor.Instance, now time.Time) {
	each := func(name, kind, help string, sample func(in *monitor.Instance) (value float64, known bool)) {
		begun := false
		for _, in := range list {
			value, known := sample(in)
			if !known {
				continue
			}
			if !begun {
				m.family(name, kind, help)
				begun = true
			}
			m.sample(value, "id", in.ID(), "label", in.Label())
		}
	}
	m.family("lamplighter_instance_state", "gauge", "What an instance is and in which state; always 1.")
	for _, in := range list {
		m.sample(1, "id", in.ID(), "label", in.Label(), "kind", in.Kind, "project", in.ProjectName, "state", string(in.State), "cause", string(in.Cause))
	}
	each("lamplighter_instance_resident_memory_bytes", "gauge", "Resident memory of an instance and what runs below it.",
		func(in *monitor.Instance) (float64, bool) { return float64(in.RSSBytes), in.RSSBytes > 0 })
	each("lamplighter_instance_cpu_ratio", "gauge", "Use of the CPU, 1 being one core.",
		func(in *monitor.Instance) (float64, bool) {
			return view.Value(in.CPUPercent) / 100, view.Number(in.CPUPercent) != nil
		})
	each("lamplighter_instance_processes", "gauge", "Processes of an instance, itself included.",
		func(in *monitor.Instance) (float64, bool) { return float64(in.Processes), in.Processes > 0 })
	each("lamplighter_instance_tool_calls_total", "counter", "Successful tool calls, as the instance counts them.",
		func(in *monitor.Instance) (float64, bool) {
			return float64(view.Value(in.ToolCalls)), in.ToolCalls != nil
		})
	each("lamplighter_instance_busy", "gauge", "Whether a call runs: 1 or 0.",
		func(in *monitor.Instance) (float64, bool) {
			if view.Value(in.Busy) {
				return 1, true
			}
			return 0, in.Busy != nil
		})
	each("lamplighter_instance_idle_seconds", "gauge", "Time since the last tool call.",
		func(in *monitor.Instance) (float64, bool) {
			idle, known := view.Of(in).IdleFor(now)
			return idle.Seconds(), known
		})
	each("lamplighter_instance_leases", "gauge", "Clients that have an instance through lamplighter.",
		func(in *monitor.Instance) (float64, bool) {
			if in.Sharing == nil {
				return 0, false
			}
			return float64(len(in.Sharing.Clients)), true
		})
	each("lamplighter_instance_waiting_requests", "gauge", "Requests of these clients that are not answered yet.",
		func(in *monitor.Instance) (float64, bool) {
			if in.Sharing == nil {
				return 0, false
			}
			return float64(in.Sharing.Waiting), true
		})
	each("lamplighter_instance_start_time_seconds", "gauge", "When an instance began, in seconds since the epoch.",
		func(in *monitor.Instance) (float64, bool) {
			return float64(in.StartedAt.UnixMilli()) / 1000, !in.StartedAt.IsZero()
		})
	each("lamplighter_instance_pinned", "gauge", "Whether the user has pinned it: 1 or 0.",
		func(in *monitor.Instance) (float64, bool) {
			if in.Pinned {
				return 1, true
			}
			return 0, true
		})
}

// exposition is a text in Prometheus' format while it is written.
type exposition struct {
	text bytes.Buffer
	name string // of the family
}

func (m *exposition) family(name, kind, help string) {
	m.name = name
	fmt.Fprintf(&m.text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one of the family, with labels by name and value. Values are
// foreign text.
func (m *exposition) sample(value float64, labels ...string) {
	m.text.WriteString(m.name)
	for i := 0; i < len(labels); i += 2 {
		open := ","
		if i == 0 {
			open = "{"
		}
		m.text.WriteString(open + labels[i] + `="` + label(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		m.text.WriteByte('}')
	}
	m.text.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// label makes any text fit between the quotes of a label.
func label(text string) string {
	return labelEscapes.Replace(monitor.Shorten(monitor.Clean(text), maxLabel))
}
