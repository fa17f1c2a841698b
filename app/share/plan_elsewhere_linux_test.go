package share

import (
	"os/exec"
	"strings"
	"testing"
)

// A client that has another directory at the path of its own, or of its project, does not
// share the server that works on ours.
func TestAnotherMountNamespace(t *testing.T) {
	m := newMachine(t)
	alpha, beta := m.repo("alpha"), m.repo("beta")
	cmd := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs none "$0" && echo && exec sleep 600`, beta)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Skipf("there can be no other mount namespace here: %v", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Skipf("there can be no other mount namespace here: %v", err)
	}
	a, named := asker(nil), "serena start-mcp-server --context claude-code --project "
	for _, test := range []struct {
		dir, command string
		alone        bool
	}{{alpha, fromCwd, false}, {beta, fromCwd, true}, {alpha, named + beta, true}, {beta, named + alpha, true}, {alpha, named + alpha, false}} {
		r := m.wish(test.dir, test.command)
		r.PID = cmd.Process.Pid
		if p := planned(t, a, r); strings.HasPrefix(p.Alone, "it runs in a container or a sandbox") != test.alone {
			t.Errorf("%q in %s: %q", r.Command, r.Dir, p.Alone)
		}
	}
}
