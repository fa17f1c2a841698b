package dashboard

import (
	"slices"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// TestSuspended: a suspended instance gets nothing, also nothing that it would do
// later, while another answers; continued, it answers again.
func TestSuspended(t *testing.T) {
	s := serenatest.Replay(t, serenatest.Version, serenatest.Changed)
	alpha := asks(t, s)
	alpha.in.Identity, _ = child(t)
	beta := asks(t, serenatest.Replay(t, serenatest.Version, serenatest.Called))
	signal := func(sig syscall.Signal, stopped bool) {
		t.Helper()
		if err := syscall.Kill(alpha.in.Identity.PID, sig); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, "it has got "+sig.String(), func() bool {
			stat, err := process.ReadStat(alpha.in.Identity.PID)
			return err == nil && (stat.State == process.Stopped) == stopped
		})
	}
	signal(syscall.SIGSTOP, true)
	t.Cleanup(func() { syscall.Kill(alpha.in.Identity.PID, syscall.SIGCONT) }) // so that it can end
	for route, want := range map[string]int{"GET last_execution": 504, "PUT shutdown": 409} {
		w := forward(t, alpha.proxy, alpha.in, route, "")
		if w.Code != want {
			t.Errorf("%s: %d %s", route, w.Code, w.Body)
		}
		apptest.Contains(t, w.Body.String(), " - alpha is suspended", "nothing was sent")
	}
	beta.good("GET last_execution", "")
	if asked := s.Asked(); len(asked) > 0 {
		t.Errorf("it was asked %q", asked)
	}
	signal(syscall.SIGCONT, false)
	alpha.good("GET last_execution", "")
	alpha.says("PUT shutdown", "", "shutting down")
	if !slices.Contains(s.Asked(), "PUT /shutdown") {
		t.Error("it was not asked")
	}
}
