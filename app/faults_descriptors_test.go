//go:build real && full && linux

package main

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
	f.set(t, patientStart+soon)
	limit := strconv.Itoa(fewDescriptors)
	f.run = f.startAs(t, "prlimit", "--nofile="+limit+":"+limit, "--", binary, "run")
	f.ready(t)
	first := f.finds(t)
	f.lists(t, first.pid())
	project := f.path("alpha")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	var clients []*shim
	for i := range 4 {
		s := f.wrap(t, project, sharedCommand...)
		s.handshake(t)
		clients = append(clients, s)
		s.where(t, i)
	}
	server := clients[0].where(t, 100)

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
			if got := s.where(t, 200+i); got != server {
				t.Errorf("%s: the server is %d, was %d", when, got, server)
			}
		}
	}
	clientsOf("with many servers")

	// Nobody can be accepted any more.
	var held []net.Conn
	for range 2 * fewDescriptors {
		conn, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.page)))
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
		if !alive(s.pid()) {
			t.Errorf("%d has ended, and its client is there", s.pid())
		}
	}
	for _, e := range f.happened(t, "ended") {
		t.Errorf("it has ended %+v", e)
	}
	for _, e := range f.happened(t, "stopped") {
		t.Errorf("it told that %d has stopped, which runs", e.PID)
	}

	for _, s := range many {
		s.leaves(t)
	}
	f.lists(t, first.pid())
	clientsOf("afterwards")
	late := f.finds(t)
	f.lists(t, first.pid(), late.pid())
	if status, _, said := f.does(t, "status"); status != 0 || said != "" {
		t.Errorf("status: %d, %q", status, said)
	}
	lines := strings.Count(f.log(t)+f.run.err.String(), "too many open files")
	t.Logf("%d lines say that there are too many open files", lines)
	if lines > 100 {
		t.Errorf("%d lines say that there are too many open files", lines)
	}
	f.quits(t)
	f.nothingLeftBut(t, clients)
}

// nothingLeftBut waits until nothing is left of what lamplighter has started. Its
// clients are the test's.
func (f *faulty) nothingLeftBut(t *testing.T, clients []*shim) {
	t.Helper()
	for _, s := range clients {
		s.terminated(t)
	}
	f.nothingLeft(t)
}

// goesOn looks at lamplighter for a while: it runs, and waits more than it works.
func (f *faulty) goesOn(t *testing.T, when string) {
	t.Helper()
	before := f.cpu(t)
	// This is a measurement, and not a wait for something.
	select {
	case <-time.After(busyWindow):
	case <-f.run.ended:
		t.Fatalf("%s it has ended: %v, %s", when, f.run.cmd.ProcessState, f.run.err.String())
	}
	spent := f.cpu(t) - before
	t.Logf("%s it used the CPU for %v of %v, and has %d descriptors", when, spent, busyWindow, f.descriptors(t))
	if float64(spent) > busyShare*float64(busyWindow) {
		t.Errorf("%s it used the CPU for %v of %v", when, spent, busyWindow)
	}
}

func (f *faulty) descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", f.run.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// cpu is the CPU time of lamplighter so far.
func (f *faulty) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", f.run.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond
	return time.Duration(toPID(t, fields[user])+toPID(t, fields[system])) * tick
}
