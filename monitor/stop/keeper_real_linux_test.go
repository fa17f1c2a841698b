//go:build real

package stop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
)

// keeperLine is the command line of the real keeper, before the server's. Its
// background process is the test.
func keeperLine(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "lamplighter-connect")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "lamplighter/app/connect").CombinedOutput(); err != nil {
		t.Fatalf("building the keeper: %v\n%s", err, out)
	}
	alive, err := os.Create(filepath.Join(dir, "alive.lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { alive.Close() })
	if err := syscall.Flock(int(alive.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(dir, "server")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{program, "keep", "--lifetime", "session", "--dir", state, "--alive", alive.Name(), "--"}
}

// TestRealSerenaUnderItsKeeper ends one by the ladder as an order from menu, page
// or command line does, while the launcher is connected to it.
func TestRealSerenaUnderItsKeeper(t *testing.T) {
	for _, c := range []struct {
		name      string
		uvx       bool
		suspended bool
		unknown   bool // the instance does not name its keeper
	}{
		{name: "plain"}, {name: "uvx", uvx: true}, {name: "suspended", suspended: true}, {name: "uvx, not named", uvx: true, unknown: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), HTTP: true, UVX: c.uvx, Client: keeperLine(t)})
			s.WaitReady(t)
			s.Initialize(t)
			languageServer(t, s)
			in := serenaInstance(t, s)
			in.Managed, in.Client = true, &monitor.Client{Identity: identityOf(t, os.Getpid()), Name: "curl"}
			if !c.unknown {
				in.Keeper = identityOf(t, s.PID)
			}
			if c.suspended {
				s.Signal(t, syscall.SIGSTOP)
			}
			l := patient()
			r, err := l.Stop(t.Context(), in, Order{By: "the menu"})
			if err != nil || r.Outcome != Ended {
				t.Fatalf("%+v, %v", r, err)
			}
			if asked := strings.Contains(kinds(r.Steps), "asked"); asked == c.suspended {
				t.Errorf("steps %s", kinds(r.Steps))
			}
			allGone(t, s, r)
		})
	}
}
