//go:build real && linux

package sharing

import (
	"encoding/json"
	"os"
	"strconv"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

// holdingClient starts the command line that follows and holds its ends.
const holdingClient = "import subprocess, sys, threading\n" +
	"p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n" +
	"threading.Event().wait()"

// TestProofsOutliveLamplighter: what was seen of a server and its client counts after
// Lamplighter was killed, also when the client ended while it was away.
func TestProofsOutliveLamplighter(t *testing.T) {
	t.Parallel()
	h := e2e.NewHome(t)
	first := h.Background(t, "run")
	server := serenatest.Start(t, serenatest.Options{Command: serenatest.Memory(t), Client: []string{"python3", "-c", holdingClient}})
	pid := 0
	apptest.Eventually(t, "the server is listed", func() bool {
		for _, in := range h.Listing(t) {
			if in.Kind == "memory" && in.Client != nil {
				pid = in.PID
			}
		}
		return pid != 0
	})
	cause := func() string {
		in := h.Listing(t)[pid]
		if in.Cause == nil {
			return ""
		}
		return *in.Cause
	}
	apptest.Eventually(t, "its link is remembered", func() bool {
		var saved struct {
			Proofs map[string]struct{ Pipe *struct{} }
		}
		text, err := os.ReadFile(h.Path(".local", "state", "lamplighter", "proofs.json"))
		if err != nil || json.Unmarshal(text, &saved) != nil {
			return false
		}
		for _, proof := range saved.Proofs {
			if proof.Pipe != nil {
				return true
			}
		}
		return false
	})
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil { // it cannot end by itself
		t.Fatal(err)
	}
	if err := first.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.Ended
	if err := syscall.Kill(server.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.Background(t, "run")
	apptest.Eventually(t, "it is an orphan", func() bool { return cause() == "orphaned" })
	if status, out, said := h.Does(t, "stop", strconv.Itoa(pid)); status != 0 {
		t.Errorf("stop: %d, %s%s", status, out, said)
	}
	apptest.Eventually(t, "it has ended", func() bool { return !e2e.Alive(pid) })
}
