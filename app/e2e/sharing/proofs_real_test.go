//go:build real && linux

package sharing

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

// A client that starts the command line that follows and holds its ends, and a server
// that goes on when its client has gone.
const (
	holdingClient = "import subprocess, sys, threading\n" +
		"p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n" +
		"threading.Event().wait()"
	stubbornServer = "import threading\nthreading.Event().wait()\n"
)

// TestProofsOutliveLamplighter: what was seen of a server and its client counts after
// Lamplighter was killed, also when the client ended while it was away. Where nothing was
// seen the server is a suspected orphan, which an order for those ends: all of them, so
// that no other test runs beside it.
func TestProofsOutliveLamplighter(t *testing.T) {
	t.Run("remembered", func(t *testing.T) { leftWhileAway(t, false) })
	t.Run("never seen", func(t *testing.T) { leftWhileAway(t, true) })
}

func leftWhileAway(t *testing.T, forgotten bool) {
	h := e2e.NewHome(t)
	h.Write(t, "servers:\n- name: stubborn\n  program: python\n  arguments: [stubborn_server.py]\n", ".config", "lamplighter", "config.yaml")
	h.Write(t, stubbornServer, "stubborn_server.py")
	first := h.Background(t, "run")
	client := exec.Command("python3", "-c", holdingClient, "python3", h.Path("stubborn_server.py"))
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	proofs := h.Path(".local", "state", "lamplighter", "proofs.json")
	pid := 0
	apptest.Eventually(t, "the link of the server is remembered", func() bool {
		for _, in := range h.Listing(t) {
			pid = in.PID
		}
		var saved struct {
			Proofs map[string]struct{ Pipe *struct{} }
		}
		text, err := os.ReadFile(proofs)
		if pid == 0 || err != nil || json.Unmarshal(text, &saved) != nil {
			return false
		}
		for _, proof := range saved.Proofs {
			if proof.Pipe != nil {
				return true
			}
		}
		return false
	})
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // it has ended, unless the test has failed

	for _, ends := range []*os.Process{first.Cmd.Process, client.Process} {
		if err := ends.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	<-first.Ended
	_ = client.Wait() // it was killed
	cause, order := "orphaned", strconv.Itoa(pid)
	if forgotten {
		cause, order = "suspected", "--suspected"
		if err := os.Remove(proofs); err != nil {
			t.Fatal(err)
		}
	}
	h.Background(t, "run")
	apptest.Eventually(t, "it is "+cause, func() bool {
		in := h.Listing(t)[pid]
		return in.Cause != nil && *in.Cause == cause
	})
	if status, out, said := h.Does(t, "stop", "--yes", order); status != 0 {
		t.Errorf("stop: %d, %s%s", status, out, said)
	}
	apptest.Eventually(t, "it has ended", func() bool { return !e2e.Alive(pid) })
}
