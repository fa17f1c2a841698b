package watch

import (
	"testing"
	"time"

	"lamplighter/monitor"
)

// A child has the command line and the sockets of its parent until it executes
// another program: the server is the one that had them, as long as it has them.
func TestForkedServers(t *testing.T) {
	t.Parallel()
	for _, serves := range []string{"parent", "child"} {
		t.Run(serves, func(t *testing.T) {
			t.Parallel()
			w := watching(t)
			f := startFake(t, answers{}, "env", "FAKE_FORK="+serves)
			await(t, w, f.pid, "it is there, without a dashboard", patience, func(in *monitor.Instance) bool { return in != nil })
			f.say(t, answers{"project": "alpha", "open": true})
			found := served(t, w, f.port)
			if is := found.Identity.PID == f.pid; is != (serves == "parent") {
				t.Errorf("process %d is shown, and %d was started", found.Identity.PID, f.pid)
			}
		})
	}
}

// served is the green instance whose dashboard is on port.
func served(t *testing.T, w *Watch, port int) monitor.Instance {
	t.Helper()
	snapshots, cancel := w.Subscribe()
	defer cancel()
	deadline := time.After(patience)
	for {
		select {
		case s := <-snapshots:
			for _, in := range s.Instances {
				if in.Port == port && in.State == monitor.StateProject {
					return in
				}
			}
		case <-deadline:
			t.Fatalf("nothing green has port %d", port)
		}
	}
}
