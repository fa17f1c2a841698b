package situation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lamplighter/monitor/policy"
)

// idleServer is a situation in which a server over HTTP is ended for its idleness,
// and looked at once more before.
func idleServer(t *testing.T) *Situation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(collection, "call-come-and-gone.json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	then, calls := s.Servers[0], *s.Servers[0].Dashboard.Calls
	again := *then.Dashboard
	again.Calls, then.Dashboard = &calls, &again
	s.Then.Servers = []Server{then}
	return s
}

// TestTheLastLook: what a policy finds out when the tree is held is what the watch
// would find out.
func TestTheLastLook(t *testing.T) {
	for name, c := range map[string]struct {
		change func(was, is *Server, p *Process)
		want   string // "" = it is ended
	}{
		"nothing":                        {func(_, _ *Server, _ *Process) {}, ""},
		"a dashboard no more":            {func(_, is *Server, _ *Process) { is.Dashboard = nil }, "it has no dashboard that says whether it is at work"},
		"suspended":                      {func(_, _ *Server, p *Process) { p.State = Stopped }, "it is suspended, so that it cannot say whether it is at work"},
		"another's port":                 {func(_, _ *Server, p *Process) { p.Ports = p.Ports[:1] }, "port 24282 is no longer its own"},
		"silent":                         {func(_, is *Server, _ *Process) { is.Dashboard.FailingSince = is.StartedAt }, "it does not say whether it is at work"},
		"at work":                        {func(_, is *Server, _ *Process) { is.Dashboard.Queue = []string{"Task-13:FindSymbolTool"} }, "it is at work"},
		"idle, and nobody knows since":   {func(_, is *Server, _ *Process) { is.IdleSince = time.Time{} }, "it is not known to be idle"},
		"idle since later":               {func(_, is *Server, _ *Process) { is.IdleSince = is.IdleSince.Add(1) }, "it was used since"},
		"a call that was cut off":        {func(_, is *Server, _ *Process) { is.CutUntil = is.IdleSince.Add(24 * time.Hour) }, "it is not known to be idle"},
		"the end of one":                 {func(_, is *Server, _ *Process) { is.CutUntil = is.IdleSince.Add(1) }, "it was used since"},
		"a call more":                    {func(_, is *Server, _ *Process) { *is.Dashboard.Calls++ }, "it has just been used"},
		"another execution":              {func(_, is *Server, _ *Process) { is.Dashboard.LastTask = "Task-13:FindSymbolTool" }, "it has just been used"},
		"no count, neither then nor now": {func(was, is *Server, _ *Process) { was.Dashboard.Calls, is.Dashboard.Calls = nil, nil }, "how many calls it has had is not known"},
		"no count now":                   {func(_, is *Server, _ *Process) { is.Dashboard.Calls = nil }, "how many calls it has had is not known"},
	} {
		s := idleServer(t)
		for _, p := range s.Processes {
			if p.PID == s.Servers[0].PID {
				s.Then.Processes = []Process{p}
			}
		}
		c.change(&s.Servers[0], &s.Then.Servers[0], &s.Then.Processes[0])
		verdicts := s.Decide()
		if len(verdicts) != 1 {
			t.Errorf("%s: %v", name, verdicts)
			continue
		}
		if v := verdicts[0]; v.Because != c.want || (v.Do == policy.End) != (c.want == "") {
			t.Errorf("%s: %v, want %q", name, v, c.want)
		}
	}
}
