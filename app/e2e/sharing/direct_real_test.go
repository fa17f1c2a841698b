//go:build real && linux

package sharing

import (
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

// The line that setup writes works while Lamplighter does not run, and shares from the
// client's next start on.
func TestOrDirect(t *testing.T) {
	t.Parallel()
	m := e2e.SerenaHome(t)
	m.Initialised(t)
	m.Set(t, e2e.PatientStart)
	project := e2e.NamedProject(t, "pier")
	line := append([]string{e2e.ConnectProgram(), "connect", "--or-direct", "--"}, e2e.SerenaCommand...)
	starts := func() *e2e.Shim {
		client := m.WrapAs(t, project, line)
		client.Handshake(t)
		apptest.Contains(t, client.Overview(t, 1), "greet")
		return client
	}
	without := starts()
	without.Says(t, "lamplighter-connect: cannot reach lamplighter at ", "so that the command runs without it until the client starts it again\n")
	m.Begin(t)
	m.TakesClients(t)
	with := starts()
	if in := m.Becomes(t, "live_with_project"); *in.SharedBy != 1 || in.PID == nil || *in.PID == without.Cmd.Process.Pid {
		t.Errorf("%+v", in)
	}
	apptest.Contains(t, without.Overview(t, 2), "greet")
	without.Terminated(t)
	joined := starts()
	apptest.Eventually(t, "both share", func() bool { return *m.Becomes(t, "live_with_project").SharedBy == 2 })
	with.Terminated(t)
	apptest.Contains(t, joined.Overview(t, 2), "greet")
}
