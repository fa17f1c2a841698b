//go:build real

package dashboard

import (
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// TestRealSuspended: a suspended instance gets nothing, also nothing that it
// would do later, while another answers; continued, it answers again.
func TestRealSuspended(t *testing.T) {
	p := NewProxy(ProxyOptions{})
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha")})
	alpha := asker{t, p, instanceOf(t, s, "alpha", serenatest.Version)}
	beta := asker{t, p, instanceOf(t, serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "beta"), HTTP: true}), "beta", serenatest.Version)}

	s.Signal(t, syscall.SIGSTOP)
	apptest.Eventually(t, "it is suspended", func() bool {
		stat, err := process.ReadStat(s.ServerPID)
		return err == nil && stat.State == process.Stopped
	})
	for route, want := range map[string]int{"GET last_execution": 504, "PUT shutdown": 409} {
		w := forward(t, p, alpha.in, route, "")
		if w.Code != want {
			t.Errorf("%s: %d %s", route, w.Code, w.Body)
		}
		apptest.Contains(t, w.Body.String(), " - alpha is suspended", "nothing was sent")
	}
	p.quick = time.Minute // these are only slow, on a machine that is busy
	beta.good("GET last_execution", "")
	s.Signal(t, syscall.SIGCONT)
	apptest.Eventually(t, "it answers again", func() bool { return forward(t, p, alpha.in, "GET last_execution", "").Code == 200 })
	beta.good("POST get_log_messages", `{"start_idx":0}`)
	beta.says("PUT shutdown", "", "shutting down") // over HTTP it has time for an answer
}
