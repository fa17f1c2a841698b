package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
)

// servers are scripts that say when they are ready. However it is ended,
// nothing may be left of any of them.
var servers = []struct{ name, script string }{
	{"ordinary", `echo ready; exec sleep 600`},
	{"a wrapper", `sh -c 'echo ready; sleep 600; true'; true`},
	{"ignores TERM", `trap "" TERM; echo ready; while :; do sleep 600; done`},
	{"forks twice", `setsid sh -c '(echo ready; exec sleep 600) & exit 0' & exit 0`},
	{"forks twice and ignores TERM", `trap "" TERM; setsid sh -c '(echo ready; exec sleep 600) & exit 0' & exit 0`},
	{"leaves one that ignores TERM", `setsid sh -c 'trap "" TERM; echo ready; while :; do sleep 600; done' & exec sleep 600`},
	{"suspended", `echo ready; kill -STOP $$; sleep 600`},
	{"suspended and ignores TERM", `trap "" TERM; echo ready; kill -STOP $$; sleep 600`},
	{"suspends what it left", `setsid sh -c 'echo ready; kill -STOP $$; sleep 600' & exit 0`},
	{"starts its child again", `trap : TERM; echo ready; while :; do sleep 600 & wait; done`},
	{"left one that starts its child again", `setsid sh -c 'trap : TERM; echo ready; while :; do sleep 600 & wait; done' & exit 0`},
	{"never the same process", `trap "" TERM; f() { sleep 0.01; f & }; f & echo ready`},
	{"many that ignore TERM", `trap "" TERM; i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done; echo ready; wait`},
	{"deep", `f() { if [ $1 -gt 0 ]; then (f $(($1-1)); true); else echo ready; sleep 600; fi; true; }; f 60; true`},
	{"without output", `echo ready; exec >/dev/null 2>&1; sleep 600; true`},
}

// orders are the ways to have a server ended.
var orders = []struct {
	name string
	give func(t testing.TB, k *keeper, owner *running)
}{
	{"terminated", func(t testing.TB, k *keeper, _ *running) { k.signal(t, syscall.SIGTERM) }},
	{"orphaned", func(_ testing.TB, _ *keeper, owner *running) { owner.kill() }},
	{"first terminated, then orphaned", func(t testing.TB, k *keeper, owner *running) {
		k.signal(t, syscall.SIGTERM)
		owner.kill()
	}},
}

func TestNothingIsLeft(t *testing.T) {
	for _, server := range servers {
		for _, order := range orders {
			t.Run(server.name+"/"+order.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.impatient = true
				owner := w.own(t)
				k := w.script(t, session, server.script)
				k.prints(t, "ready\n")
				order.give(t, k, owner)
				if output, _ := k.finished(t); output != "ready\n" {
					t.Errorf("it printed %q", output)
				}
				k.gone(t)
			})
		}
	}
}

func TestSignalsThatEnd(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		w := newWorld(t)
		w.own(t)
		k := w.script(t, session, `trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 600 & wait; done`)
		k.prints(t, "ready\n")
		k.signal(t, sig)
		if output, exited := k.finished(t); output != "ready\nbye\n" || exited != "code 5" {
			t.Errorf("%v: it printed %q and ended with %s", sig, output, exited)
		}
		k.gone(t)
	}
}

// TestTheHeadGoesFirst: what is below the server is left to the server, and is
// only then asked itself.
func TestTheHeadGoesFirst(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	k := w.script(t, session, `
		sh -c 'trap "echo the child is asked; exit 0" TERM; echo child; while :; do sleep 0.01; done' &
		trap 'kill -0 '$!' && echo the child lives; exit 0' TERM
		echo server
		while :; do sleep 600 & wait; done`)
	k.prints(t, "child\n")
	k.prints(t, "server\n")
	k.signal(t, syscall.SIGTERM)
	output, _ := k.finished(t)
	if _, after, ok := strings.Cut(output, "the child lives\n"); !ok || !strings.Contains(after, "the child is asked\n") {
		t.Errorf("it printed %q", output)
	}
	k.gone(t)
}

// TestKilledServer: what a server leaves behind when it is killed goes on until
// the keeper is told.
func TestKilledServer(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	k := w.script(t, session, `sh -c 'echo ready; exec sleep 600' & wait`)
	k.prints(t, "ready\n")
	if err := syscall.Kill(k.server(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if exited := k.says(t, "exited"); !strings.HasSuffix(exited, " signal 9") {
		t.Errorf("it ended with %s", exited)
	}
	if left := k.below(t); len(left) != 1 {
		t.Errorf("it left %v", left)
	}
	k.signal(t, syscall.SIGTERM)
	k.finished(t)
	k.gone(t)
}

// TestKilledKeeper: the direct child hears of it.
func TestKilledKeeper(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	note := w.dir + "/note"
	k := w.script(t, session, `trap 'echo asked >'`+note+`'; exit 0' TERM; echo ready; while :; do sleep 600 & wait; done`)
	k.prints(t, "ready\n")
	k.running.kill()
	apptest.Eventually(t, "the server is asked to end", func() bool {
		text, err := os.ReadFile(note)
		return err == nil && string(text) == "asked\n"
	})
}

// TestEverythingIsReaped: nothing stays behind unreaped while a server goes on.
func TestEverythingIsReaped(t *testing.T) {
	w := newWorld(t)
	w.own(t)
	k := w.script(t, session, `i=0; while [ $i -lt 200 ]; do (true & true) & i=$((i+1)); done; wait; echo ready; exec sleep 600`)
	k.prints(t, "ready\n")
	server := k.server(t)
	apptest.Eventually(t, "only the server is left", func() bool {
		children, err := process.Children(k.cmd.Process.Pid)
		return err == nil && len(children) == 1 && children[0] == server
	})
	// The kernel does not list a child that has ended; its parent is known. One
	// may have ended just now.
	apptest.Eventually(t, "all others are reaped", func() bool {
		for pid, parent := range parents(t) {
			if parent == k.cmd.Process.Pid && pid != server {
				return false
			}
		}
		return true
	})
	k.signal(t, syscall.SIGTERM)
	k.finished(t)
	k.gone(t)
}

// parents are those of all processes.
func parents(t *testing.T) map[int]int {
	t.Helper()
	all := map[int]int{}
	for _, pid := range numbered("/proc") {
		if s, ok := readStat(pid); ok {
			all[s.pid] = s.parent
		}
	}
	return all
}

// TestOthersAreSpared: neither the owner, nor the launcher, nor what these have
// started hears anything. The keeper has its usual time.
func TestOthersAreSpared(t *testing.T) {
	t.Parallel() // it waits
	w := newWorld(t)
	w.own(t)
	bystander := helper(t, "hear")
	k := w.script(t, session, `trap "" TERM; i=0; while [ $i -lt 50 ]; do sleep 600 & i=$((i+1)); done; echo ready; wait`)
	k.prints(t, "ready\n")
	k.signal(t, syscall.SIGTERM)
	k.finished(t)
	k.gone(t)
	if err := bystander.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the bystander hears us", func() bool { return strings.Contains(bystander.out.String(), "interrupt") })
	if heard := bystander.out.String(); heard != "ready\nsignal interrupt\n" {
		t.Errorf("the bystander heard %q", heard)
	}
}
