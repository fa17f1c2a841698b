//go:build real && full && linux

package endurance

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

const (
	fewDescriptors = 64
	// manyServers is more than there are descriptors for, with what each costs.
	manyServers = 40
	// busyWindow is how long a process is looked at, and busyShare how much of it may
	// be spent by one that waits: one that spins takes all of it.
	busyWindow = 4 * time.Second
	busyShare  = 0.5
)

// TestFaultFewDescriptors: with 64 file descriptors, more servers than these and
// more connections than that, lamplighter goes on, does not spin, ends nobody, and is
// as before when they have gone.
func TestFaultFewDescriptors(t *testing.T) {
	f := faultyHome(t)
	f.Set(t, e2e.PatientStart+e2e.Soon)
	limit := strconv.Itoa(fewDescriptors)
	f.Run = f.StartAs(t, "prlimit", "--nofile="+limit+":"+limit, "--", e2e.Program, "run")
	f.Ready(t)
	first := f.finds(t)
	f.lists(t, first.pid())
	project := f.Path("alpha")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	var clients []*e2e.Shim
	for i := range 4 {
		s := f.Wrap(t, project, sharedCommand...)
		s.Handshake(t)
		clients = append(clients, s)
		where(t, s, i)
	}
	server := where(t, clients[0], 100)

	var many []*foundOne
	all := []int{first.pid()}
	for range manyServers {
		many = append(many, f.finds(t))
		all = append(all, many[len(many)-1].pid())
	}
	f.lists(t, all...)
	f.goesOn(t, "with many servers")
	clientsOf := func(when string) {
		t.Helper()
		for i, s := range clients {
			if got := where(t, s, 200+i); got != server {
				t.Errorf("%s: the server is %d, was %d", when, got, server)
			}
		}
	}
	clientsOf("with many servers")

	// Nobody can be accepted any more.
	var held []net.Conn
	for range 2 * fewDescriptors {
		conn, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.Page)))
		if err != nil {
			break // the queue is full as well
		}
		held = append(held, conn)
	}
	f.goesOn(t, "with many connections")
	for _, conn := range held {
		conn.Close()
	}
	for _, s := range append(many, first) {
		if !e2e.Alive(s.pid()) {
			t.Errorf("%d has ended, and its client is there", s.pid())
		}
	}
	for _, e := range f.Happened(t, "ended") {
		t.Errorf("it has ended %+v", e)
	}
	for _, e := range f.Happened(t, "stopped") {
		t.Errorf("it told that %d has stopped, which runs", e.PID)
	}

	for _, s := range many {
		s.leaves(t)
	}
	f.lists(t, first.pid())
	clientsOf("afterwards")
	late := f.finds(t)
	f.lists(t, first.pid(), late.pid())
	apptest.Eventually(t, "status has nothing to complain of: the registry has been written again", func() bool {
		status, _, said := f.Does(t, "status")
		return status == 0 && said == ""
	})
	lines := strings.Count(f.Log(t)+f.Run.Err.String(), "too many open files")
	t.Logf("%d lines say that there are too many open files", lines)
	if lines > 100 {
		t.Errorf("%d lines say that there are too many open files", lines)
	}
	f.quits(t)
	f.nothingLeftBut(t, clients)
}

// nothingLeftBut waits until nothing is left of what lamplighter has started. Its
// clients are the test's.
func (f *faulty) nothingLeftBut(t *testing.T, clients []*e2e.Shim) {
	t.Helper()
	for _, s := range clients {
		s.Terminated(t)
	}
	f.NothingLeft(t)
}

// goesOn looks at lamplighter for a while: it runs, and waits more than it works.
func (f *faulty) goesOn(t *testing.T, when string) {
	t.Helper()
	before := f.cpu(t)
	// This is a measurement, and not a wait for something.
	select {
	case <-time.After(busyWindow):
	case <-f.Run.Ended:
		t.Fatalf("%s it has ended: %v, %s", when, f.Run.Cmd.ProcessState, f.Run.Err.String())
	}
	spent := f.cpu(t) - before
	t.Logf("%s it used the CPU for %v of %v, and has %d descriptors", when, spent, busyWindow, f.descriptors(t))
	if float64(spent) > busyShare*float64(busyWindow) {
		t.Errorf("%s it used the CPU for %v of %v", when, spent, busyWindow)
	}
}

func (f *faulty) descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", f.Run.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// cpu is the CPU time of lamplighter so far.
func (f *faulty) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", f.Run.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond
	return time.Duration(toPID(t, fields[user])+toPID(t, fields[system])) * tick
}
