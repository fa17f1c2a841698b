package stop

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
)

func TestWhoIsNeverEnded(t *testing.T) {
	g := newGroup(t)
	stranger := g.shell(`echo ready; exec sleep 600`)
	tree := g.shell(`sleep 600 & echo ready; wait`)
	var child monitor.Identity
	eventually(t, "it has a child", func() bool {
		children, err := process.Children(tree.PID)
		if err == nil && len(children) == 1 {
			child = identityOf(t, children[0])
		}
		return child.PID != 0
	})
	unknown := generic(stranger)
	unknown.Recognised = false
	entered := generic(stranger) // no rule knows it, and it ran something else when its entry was found
	entered.Entry = &monitor.Entry{Name: "notes", Proves: true, Program: "/usr/bin/notes"}
	for _, c := range []struct {
		name  string
		in    monitor.Instance
		order Order
		o     Options
		kind  error
	}{
		{"ourselves", generic(identityOf(t, os.Getpid())), Order{}, Options{}, ErrOurs},
		{"our parent", generic(identityOf(t, os.Getppid())), Order{}, Options{}, ErrOurs},
		{"who asks", generic(tree), Order{Protect: []int{child.PID}}, Options{}, ErrOurs},
		{"the ancestor of who asks", generic(tree), Order{Protect: []int{0, -1, 1 << 30, child.PID}}, Options{}, ErrOurs},
		{"what no rule knows", unknown, Order{}, Options{}, ErrNotRecognised},
		{"what runs another program than its entry", entered, Order{}, Options{Recognise: func(process.Info) bool { return false }}, ErrNotRecognised},
		{"what runs another program by now", generic(stranger), Order{}, Options{Recognise: func(p process.Info) bool { return p.Name == "python" }}, ErrNotRecognised},
	} {
		for _, force := range []bool{false, true} {
			rec := &recorder{}
			c.o.Record, c.order.Force = rec.record, force
			r, err := New(c.o).Stop(t.Context(), c.in, c.order)
			if !errors.Is(err, c.kind) || r.Outcome != Refused || r.Detail != err.Error() {
				t.Errorf("%s: %+v, %v", c.name, r, err)
			}
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Forceable() {
				t.Errorf("%s: force is offered: %v", c.name, err)
			}
			if rec.kinds() != "stop_refused" {
				t.Errorf("%s: recorded %s", c.name, rec.kinds())
			}
		}
	}
	for _, id := range []monitor.Identity{stranger, tree, child} {
		if !lives(id) {
			t.Errorf("%v was ended", id)
		}
	}
}

// TestOurAncestor asks as a child of the tree.
func TestOurAncestor(t *testing.T) {
	g := newGroup(t)
	tree := g.shell(`sh -c 'sleep 600 & wait' & echo ready; wait`)
	var asker int
	eventually(t, "its grandchild runs", func() bool {
		family, err := process.Tree(tree)
		if err == nil && len(family) == 3 {
			asker = family[2].PID
		}
		// One that is about to run its program has no environment for a moment.
		info, err := process.Local().Read(asker)
		return err == nil && info.Name == "sleep" && g.marked(asker)
	})
	l := New(Options{})
	alter(l).stat = func(pid int) (process.Stat, error) {
		st, err := process.ReadStat(pid)
		if pid == os.Getpid() {
			st.Parent, st.Start = asker, math.MaxUint64
		}
		return st, err
	}
	if _, err := l.Stop(t.Context(), generic(tree), Order{Force: true}); !errors.Is(err, ErrAncestor) {
		t.Errorf("%v", err)
	}
	alter(l).stat = func(pid int) (process.Stat, error) {
		if pid == os.Getpid() {
			return process.Stat{}, errors.New("no idea")
		}
		return process.ReadStat(pid)
	}
	if r, err := l.Stop(t.Context(), generic(tree), Order{Force: true}); err == nil || r.Outcome != Failed {
		t.Errorf("ancestors unknown: %+v, %v", r, err)
	}
	if len(g.alive()) != 3 {
		t.Error("something was ended")
	}
}

// TestAskedFromABrowserOfTheServer: Serena has opened the browser, whose page
// asks for its end.
func TestAskedFromABrowserOfTheServer(t *testing.T) {
	for _, test := range []struct {
		name  string
		asker int // in the order of the tree: the server, the browser, what is below it
	}{{"the browser", 1}, {"below it", 2}} {
		g := newGroup(t)
		browser := programtest.Copy(t, "/bin/sh", "chromium")
		tree := g.shell(browser + ` -c 'sleep 600 & echo ready; wait' & wait`)
		family, err := process.Tree(tree)
		if err != nil || len(family) != 3 {
			t.Fatal(family, err)
		}
		in := generic(tree)
		order := Order{Protect: []int{family[test.asker].PID}}
		l := New(Options{Limits: quick()})
		in.Kind = "Playwright"
		if _, err := l.Stop(t.Context(), in, order); !errors.Is(err, ErrOurs) {
			t.Errorf("%s, which is the server's tool: %v", test.name, err)
		}
		in.Kind = monitor.KindSerena
		stopped(t, l, in, order)
		if !lives(family[1].Identity) || !lives(family[2].Identity) {
			t.Errorf("%s: it was ended too", test.name)
		}
	}
}

// TestOtherUsers: root may signal everybody, and must not.
func TestOtherUsers(t *testing.T) {
	g := newGroup(t)
	cmd := exec.Command("sleep", "600")
	cmd.Dir = "/"
	foreign := func(int) (bool, error) { return false, nil }
	l := New(Options{Limits: quick()})
	if os.Geteuid() == 0 && canChangeUser() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	} else {
		alter(l).sameUser = foreign
	}
	id, _ := g.start(cmd)
	_, err := l.Stop(t.Context(), generic(id), Order{Force: true})
	if !errors.Is(err, ErrOtherUser) || !strings.Contains(err.Error(), fmt.Sprintf("sleep (%d)", id.PID)) {
		t.Errorf("%v", err)
	}

	// Below a tree of ours it stands in the way as well.
	tree := g.shell(`sleep 600 & echo ready; wait`)
	alter(l).sameUser = func(pid int) (bool, error) { return pid == tree.PID, nil }
	if _, err := l.Stop(t.Context(), generic(tree), Order{Force: true}); !errors.Is(err, ErrOtherUser) {
		t.Errorf("below a tree: %v", err)
	}
	alter(l).sameUser = func(int) (bool, error) { return false, errors.New("no idea") }
	if r, err := l.Stop(t.Context(), generic(tree), Order{Force: true}); err == nil || r.Outcome != Failed {
		t.Errorf("nobody knows whose: %+v, %v", r, err)
	}
	if !lives(id) || !lives(tree) {
		t.Error("it was ended")
	}
}

// canChangeUser reports whether there are other users here: not in a user
// namespace that knows one only.
func canChangeUser() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	fields := strings.Fields(string(b))
	return err == nil && len(fields) == 3 && fields[2] != "1"
}
