//go:build real && full && linux

package endurance

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/tray/traytest"
)

// busAt starts a session bus at an address, where one was before.
func busAt(t *testing.T, path string) (kill func()) {
	t.Helper()
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	cmd := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", "--address=unix:path="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("start dbus-daemon, which these tests need: %v", err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	t.Cleanup(kill)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // when the bus is ready
		t.Fatal(err)
	}
	return kill
}

// TestFaultBusRestarted: with its bus lamplighter ends, as with the session, and
// leaves everything to the one that the next session starts, at the same address.
func TestFaultBusRestarted(t *testing.T) {
	f := faultyHome(t)
	bus := f.Path("run", "bus")
	address := "unix:path=" + bus
	plain := f.Env
	f.Env = append(slices.Clip(plain), "DBUS_SESSION_BUS_ADDRESS="+address)
	f.Set(t, e2e.PatientStart)
	project := f.Path("alpha")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	found := []*foundOne{f.finds(t), f.finds(t)}
	var client *e2e.Shim
	server := 0
	// A call is made while there is no bus. It is answered before the next one goes: what
	// is under way then may be lost, and its client is told.
	answered := func(call int) {
		t.Helper()
		if got := toPID(t, client.Await(t, strconv.Itoa(call)).Text(t)); got != server {
			t.Errorf("the server is %d, was %d", got, server)
		}
	}
	for round := range 3 {
		kill := busAt(t, bus)
		panel := traytest.NewHost(t, address)
		panel.Appear(t)
		f.Begin(t)
		sender := panel.AwaitItem(t)
		if client == nil {
			client = f.Wrap(t, project, sharedCommand...)
			client.Handshake(t)
			server = where(t, client, 1)
		}
		apptest.Eventually(t, "the menu has all of them", func() bool { return strings.HasPrefix(panel.Labels(t, sender), "3 servers") })
		f.lists(t, found[0].pid(), found[1].pid())
		if round > 0 {
			answered(9 + round)
		}

		kill()
		if got := f.Run.Status(t); got != 0 || f.Run.Err.String() != "" {
			t.Errorf("round %d: exit status %d, said %q", round, got, f.Run.Err.String())
		}
		if !e2e.Alive(server) || !e2e.Alive(found[0].pid()) || !e2e.Alive(found[1].pid()) {
			t.Fatalf("round %d: a server has ended with the bus", round)
		}
		// Between two buses one comes and goes.
		found[0].leaves(t)
		found[0] = f.finds(t)
		client.Call(t, 10+round, "where", map[string]any{})
	}
	// Without any bus it does the rest, also after one came.
	f.Begin(t)
	apptest.Eventually(t, "it says that it is headless", func() bool { return strings.Contains(f.Run.Err.String(), "headless") })
	answered(12)
	busAt(t, bus)
	f.lists(t, found[0].pid(), found[1].pid())
	f.Ends(t, syscall.SIGTERM)
	if !e2e.Alive(server) {
		t.Error("the shared server has ended")
	}
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	f.Begin(t)
	sender := panel.AwaitItem(t)
	apptest.Eventually(t, "the menu has all of them", func() bool { return strings.HasPrefix(panel.Labels(t, sender), "3 servers") })
	if got := where(t, client, 20); got != server {
		t.Errorf("the server is %d, was %d", got, server)
	}
	if strings.Contains(f.Log(t), "in time") || strings.Contains(f.Log(t), "panic") {
		t.Error("it did not end well")
	}
}
