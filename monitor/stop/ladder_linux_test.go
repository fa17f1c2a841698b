package stop

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
)

// stopped stops an instance and checks that nothing of it is left.
func stopped(t *testing.T, l *Ladder, in monitor.Instance, o Order) Result {
	t.Helper()
	before := descriptors(t)
	r, err := l.Stop(t.Context(), in, o)
	if err != nil || r.Outcome != Ended {
		t.Fatalf("%+v, %v", r, err)
	}
	// A connection to its dashboard is closed beside us.
	eventually(t, fmt.Sprintf("there are %d descriptors as before", before), func() bool { return descriptors(t) <= before })
	if lives(in.Identity) {
		t.Errorf("it says %q and lives", r.Detail)
	}
	// How much it is cannot be said here: the kernel's figure of a process as
	// small as these may be 0 (proc(5), rss). A real server has it not so small.
	if last := r.Steps[len(r.Steps)-1]; last.Kind != monitor.EventEnded || last.FreedBytes != r.FreedBytes {
		t.Errorf("%d bytes given back, and the event says %+v", r.FreedBytes, last)
	}
	return r
}

func TestResistingProcesses(t *testing.T) {
	for _, c := range []struct {
		name, script string
		suspend      bool
		want         string // kinds of the steps
	}{
		{"ordinary", `echo ready; exec sleep 600`, false, "stop_ordered terminated ended"},
		{"suspended", `echo ready; exec sleep 600`, true, "stop_ordered terminated ended"},
		{"ignores SIGTERM", `trap "" TERM; sleep 600 & echo ready; wait`, false, "stop_ordered terminated terminated force_killed ended"},
		{"suspended, ignores SIGTERM", `trap "" TERM; echo ready; while :; do sleep 600; done`, true, "stop_ordered terminated force_killed ended"},
		{"leaves its children behind", `trap "exit 0" TERM; sleep 600 & sleep 600 & echo ready; while :; do wait; done`, false, "stop_ordered terminated terminated ended"},
		{"grandchildren ignore it", `sh -c 'trap "" TERM; sleep 600 & echo ready; while :; do wait; done' & wait`, false, "stop_ordered terminated terminated force_killed ended"},
		{"starts its children again", `trap "" TERM; while :; do sleep 600 & echo ready; wait $!; done`, false, "stop_ordered terminated terminated force_killed ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGroup(t)
			id := g.shell(c.script)
			// All of it: until a shell's child has become sleep, a signal is the shell's trap.
			eventually(t, "it has started what it starts", func() bool {
				asleep := slices.DeleteFunc(g.alive(), func(pid int) bool { return runs(pid) != "sleep" })
				return len(asleep) == strings.Count(c.script, "sleep 600")
			})
			if c.suspend {
				for _, pid := range g.alive() {
					signalTo(t, pid, syscall.SIGSTOP)
					waitForState(t, pid, process.Stopped)
				}
			}
			rec := &recorder{}
			limits := quick()
			if !strings.Contains(c.want, "force_killed") { // it ends by itself, however slow the machine is
				limits = willing()
			}
			r := stopped(t, New(Options{Limits: limits, Record: rec.record}), generic(id), Order{By: "a test"})
			if left := g.alive(); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
			if got := kinds(r.Steps); got != c.want {
				t.Errorf("steps %q, want %q", got, c.want)
			}
			if rec.kinds() != c.want {
				t.Errorf("recorded %q", rec.kinds())
			}
			if r.Processes == 0 || !strings.HasPrefix(r.Detail, "Ended: ") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestForkingProcesses ends trees that never hold still. What they fork stays
// below them, so all of it has to go.
func TestForkingProcesses(t *testing.T) {
	for name, script := range map[string]string{
		"forks":                   `echo ready; while :; do sleep 600 & sleep 0.002; done`,
		"forks, ignoring SIGTERM": `trap "" TERM; echo ready; while :; do sleep 600 & sleep 0.002; done`,
		"forks what forks":        `trap "" TERM; (while :; do sleep 600 & sleep 0.01; done) & echo ready; while :; do (sleep 600 & sleep 600) & sleep 0.02; done`,
		"forks when terminated":   `trap 'i=0; while [ $i -lt 30 ]; do sleep 600 & i=$((i+1)); done' TERM; echo ready; while :; do sleep 600 & wait $!; done`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			id := g.shell(script)
			eventually(t, "it has forked", func() bool { return name == "forks when terminated" || len(g.alive()) > 12 })
			r := stopped(t, New(Options{Limits: quick()}), generic(id), Order{})
			if left := g.alive(); len(left) > 0 {
				t.Errorf("%d of more than %d processes are left; steps %s", len(left), r.Processes, kinds(r.Steps))
			}
		})
	}
}

// TestDaemonsAreNotPursued: what has left the tree before anybody looked cannot
// be told from a stranger.
func TestDaemonsAreNotPursued(t *testing.T) {
	g := newGroup(t)
	id := g.shell(`(sleep 600 & ); echo ready; exec sleep 601`)
	var daemon monitor.Identity
	eventually(t, "the daemon has another parent", func() bool {
		for _, pid := range g.alive() {
			s, err := process.ReadStat(pid)
			if err == nil && pid != id.PID && s.Parent != id.PID && runs(pid) == "sleep" {
				parent, err := process.ReadStat(s.Parent)
				daemon = s.Identity
				return err == nil && !g.marked(parent.PID)
			}
		}
		return false
	})
	stopped(t, New(Options{Limits: quick()}), generic(id), Order{})
	if !lives(daemon) {
		t.Error("it was ended")
	}
}

// TestWhatPeopleWorkIn: a browser that did not run yet is the child of the
// Serena that opened a page in it, and goes on.
func TestWhatPeopleWorkIn(t *testing.T) {
	browser := programtest.Copy(t, "sleep", "firefox")
	g := newGroup(t)
	id := g.shell(browser + ` 600 & sleep 601 & echo ready; wait`)
	var page monitor.Identity
	eventually(t, "both run", func() bool {
		names := map[string]bool{}
		for _, pid := range g.alive() {
			name := runs(pid)
			if s, err := process.ReadStat(pid); err == nil {
				names[name] = true
				if name == "firefox" {
					page = s.Identity
				}
			}
		}
		return names["firefox"] && names["sleep"]
	})
	in := generic(id)
	in.Kind = monitor.KindSerena
	r, err := New(Options{Limits: quick()}).Stop(t.Context(), in, Order{DryRun: true})
	if err != nil || !strings.Contains(r.Detail, "Left alone, because people work in it: firefox") || r.Processes != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	r = stopped(t, New(Options{Limits: quick()}), in, Order{})
	if !lives(page) || len(g.alive()) != 1 || !strings.Contains(r.Detail, "Left alone, because people work in it: firefox") {
		t.Errorf("alive are %v: %+v", g.alive(), r)
	}
}

func TestSupervisorAbove(t *testing.T) {
	g := newGroup(t)
	supervisor, out := g.helper("supervise sleep 602")
	pid, err := strconv.Atoi(out.Text())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it runs", func() bool { return runs(pid) == "sleep" })
	stopped(t, New(Options{Limits: quick()}), generic(identityOf(t, pid)), Order{})
	if !lives(supervisor) {
		t.Error("the supervisor was ended")
	}
	out.Scan()
	again, err := strconv.Atoi(out.Text())
	if again == pid || err != nil {
		t.Errorf("none was started again: %v", err)
	}
	eventually(t, "the new one is left alone", func() bool { return runs(again) == "sleep" })
}

// TestForeignerBornOnTheWay: another user's process appears when the climb has
// begun. It is left alone and told.
func TestForeignerBornOnTheWay(t *testing.T) {
	g := newGroup(t)
	id := g.shell(`trap 'sleep 603 &' TERM; echo ready; while :; do :; done`)
	rec := &recorder{}
	limits := quick()
	limits.Root = time.Hour
	l := New(Options{Limits: limits, Record: rec.record})
	began := false // its trap: then that time is over
	l.now = func() time.Time {
		if began = began || len(g.alive()) > 1; began {
			return time.Now().Add(limits.Root)
		}
		return time.Now()
	}
	// It is another user's from its fork on, when it is still a shell.
	alter(l).sameUser = func(pid int) (bool, error) {
		p, err := process.Read(pid)
		return err != nil || p.Parent != id.PID && !slices.Contains(p.Args, "603"), nil
	}
	r, err := l.Stop(t.Context(), generic(id), Order{})
	if !errors.Is(err, ErrSurvived) || r.Outcome != Failed || !strings.Contains(r.Detail, "still there") || r.FreedBytes != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if lives(id) || len(g.alive()) != 1 {
		t.Errorf("left are %v", g.alive())
	}
	if !strings.HasSuffix(rec.kinds(), "stop_failed") {
		t.Errorf("recorded %s", rec.kinds())
	}
}

func TestGoneInstances(t *testing.T) {
	g := newGroup(t)
	id := g.shell(`echo ready; exec sleep 600`)
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	waitForState(t, zombie.Process.Pid, process.Unreaped)
	for what, in := range map[string]monitor.Instance{
		"another process": generic(monitor.Identity{PID: id.PID, Start: id.Start + 1}),
		"unreaped":        generic(identityOf(t, zombie.Process.Pid)),
		"no process":      generic(monitor.Identity{PID: 1 << 30, Start: 1}),
		"parked":          {Kind: monitor.KindSerena, State: monitor.StateParked, Recognised: true},
		"a group":         generic(monitor.Identity{PID: -id.PID, Start: id.Start}),
	} {
		rec := &recorder{}
		r, err := New(Options{Record: rec.record}).Stop(t.Context(), in, Order{Force: true})
		if !errors.Is(err, process.ErrGone) || r.Outcome != Gone || r.Detail == "" || rec.kinds() != "" {
			t.Errorf("%s: %+v, %v, recorded %q", what, r, err, rec.kinds())
		}
	}
	if !lives(id) {
		t.Error("the process with the same pid was ended")
	}
}

func TestDryRun(t *testing.T) {
	g := newGroup(t)
	in, _ := g.server("well")
	rec := &recorder{}
	l := g.ladder(Options{Record: rec.record})
	r, err := l.Stop(t.Context(), in, Order{DryRun: true})
	if err != nil || r.Outcome != WouldEnd || len(r.Steps) > 0 || r.Processes != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, part := range []string{in.Label(), fmt.Sprintf("(%d)", in.Identity.PID), fmt.Sprintf("ask it on port %d", in.Port), "SIGTERM"} {
		if !strings.Contains(r.Detail, part) {
			t.Errorf("%q does not say %q", r.Detail, part)
		}
	}
	in.Pinned = true
	if r, err := l.Stop(t.Context(), in, Order{DryRun: true}); !errors.Is(err, ErrPinned) || r.Outcome != Refused {
		t.Errorf("pinned: %+v, %v", r, err)
	}
	if !lives(in.Identity) || rec.kinds() != "" {
		t.Errorf("something was done: %s", rec.kinds())
	}
}
