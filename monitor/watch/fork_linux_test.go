package watch

import (
	"testing"

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
			found := awaitAt(t, w, f.port, "green", inState(monitor.StateProject, ""))
			if is := found.Identity.PID == f.pid; is != (serves == "parent") {
				t.Errorf("process %d is shown, and %d was started", found.Identity.PID, f.pid)
			}
		})
	}
}
