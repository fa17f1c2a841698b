package stop

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
)

// keeper starts a shell line below a program that is a keeper by its name and its
// arguments: a shell under its name, which reads the script that is called like
// the mode. The line says that it is ready.
func (g *group) keeper(name, line string) monitor.Identity {
	g.t.Helper()
	path := programtest.Shell(g.t, name, "keep", "while [ \"$1\" != -- ]; do shift; done; shift\n\"$@\" &\nwait; wait\n")
	dir := filepath.Dir(path)
	id, out := g.start(&exec.Cmd{
		Path: path, Dir: dir, Env: os.Environ(),
		Args: []string{name, "keep", "--lifetime", "session", "--dir", dir, "--alive", filepath.Join(dir, "alive.lock"), "--", "sh", "-c", line},
	})
	if !out.Scan() {
		g.t.Fatal("the server says nothing")
	}
	return id
}

// below is the only process of a name below another.
func below(t *testing.T, top monitor.Identity, name string) (found monitor.Identity) {
	t.Helper()
	eventually(t, name+" runs", func() bool {
		tree, err := process.Tree(top)
		for _, s := range tree {
			if runs(s.PID) == name {
				found = s.Identity
			}
		}
		return err == nil && found.PID > 0
	})
	return found
}

// The system cuts names off; people know the keeper by its whole one.
func TestNamesAreWhole(t *testing.T) {
	g := newGroup(t)
	if got := New(Options{}).named(g.keeper("lamplighter-connect", "echo ready; exec tail -f /dev/null").PID).Name; got != "lamplighter-connect" {
		t.Errorf("the keeper is called %q", got)
	}
	for _, test := range [][3]string{
		{"sleep", "sleep", "sleep"}, {"", "sleep", "sleep"}, {"lamplighter-con", "lamplighter-connect", "lamplighter-connect"},
		{"worker-17-of-20", "python3.13", "worker-17-of-20"}, {"python3", "python3.13", "python3"}, {"lamplighter-con", "", "lamplighter-con"},
	} {
		if got := nameOf(process.Info{Name: test[0], Exe: test[1]}); got != test[2] {
			t.Errorf("%q of %q: %q", test[0], test[1], got)
		}
	}
}

func managed(server, keeper monitor.Identity) monitor.Instance {
	in := generic(server)
	in.Managed, in.Keeper = true, keeper
	in.Client = &monitor.Client{Identity: monitor.Identity{PID: os.Getpid()}, Name: "curl"}
	return in
}

// A keeper is the root of what it keeps, however many children it has, and goes
// with it.
func TestKeeperGoesWithItsServer(t *testing.T) {
	for name, c := range map[string]struct {
		line    string
		unknown bool // the instance does not name the keeper
		want    int  // processes
	}{
		"plain":               {line: "echo ready; exec tail -f /dev/null", want: 2},
		"not named":           {line: "echo ready; exec tail -f /dev/null", unknown: true, want: 2},
		"wrapped":             {line: "echo ready; tail -f /dev/null; exit $?", want: 3},
		"wrapped, not named":  {line: "echo ready; tail -f /dev/null; exit $?", unknown: true, want: 3},
		"with a child beside": {line: "sleep 600 & echo ready; tail -f /dev/null; exit $?", want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			keeper := g.keeper("lamplighter-connect", c.line)
			in := managed(below(t, keeper, "tail"), keeper)
			if c.unknown {
				in.Keeper = monitor.Identity{}
			}
			l := New(Options{Limits: quick(), Recognise: func(process.Info) bool { return false }})
			r := stopped(t, l, in, Order{By: "the menu"})
			if left := g.alive(); len(left) > 0 || r.Processes != c.want {
				t.Errorf("%v are left; %+v", left, r)
			}
		})
	}
}

// What is named as the keeper and is none, or is not above the server, is left
// alone.
func TestKeeperThatIsNone(t *testing.T) {
	g := newGroup(t)
	ordinary := g.keeper("lamplighter-connector", "echo ready; exec tail -f /dev/null")
	elsewhere := g.keeper("lamplighter-connect", "echo ready; exec sleep 600")
	l := New(Options{Limits: quick()})
	for _, named := range []monitor.Identity{ordinary, elsewhere} {
		if keeper, ok := l.keeper(&monitor.Instance{Identity: below(t, ordinary, "tail"), Keeper: named}); ok {
			t.Errorf("%v is a keeper", keeper)
		}
	}
	stopped(t, l, managed(below(t, ordinary, "tail"), elsewhere), Order{})
	if !lives(elsewhere) {
		t.Error("a keeper above something else was ended")
	}
	if r, err := l.Stop(t.Context(), generic(below(t, elsewhere, "sleep")), Order{DryRun: true}); err != nil || r.Processes != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A keeper may take along whatever is below it, so one above a browser gets no
// signal.
func TestKeeperAboveABrowser(t *testing.T) {
	browser := programtest.Copy(t, "sleep", "firefox")
	g := newGroup(t)
	keeper := g.keeper("lamplighter-connect", browser+" 600 & echo ready; exec tail -f /dev/null")
	page := below(t, keeper, "firefox")
	in := managed(below(t, keeper, "tail"), keeper)
	in.Kind = monitor.KindSerena
	r := stopped(t, New(Options{Limits: quick()}), in, Order{})
	if !lives(page) || r.Processes != 1 || !strings.Contains(r.Detail, "Left alone, because people work in it: firefox") {
		t.Errorf("alive are %v: %+v", g.alive(), r)
	}
}

// What is above a server and cannot be read any more is left alone.
func TestUnreadableKeeper(t *testing.T) {
	g := newGroup(t)
	keeper := g.keeper("lamplighter-connect", "echo ready; tail -f /dev/null; exec sleep 600")
	server := below(t, keeper, "tail")
	l := New(Options{Limits: quick()})
	held := false
	a := alter(l)
	a.sameUser = func(pid int) (bool, error) { // asked of what is to be held
		held = held || pid == keeper.PID
		return true, nil
	}
	a.read = func(pid int) (process.Info, error) {
		if held && pid == keeper.PID {
			return process.Info{}, fs.ErrPermission
		}
		return process.Read(pid)
	}
	if r := stopped(t, l, managed(server, keeper), Order{}); r.Processes != 1 || !held || !lives(keeper) {
		t.Errorf("%+v; the keeper was held: %v, and lives: %v", r, held, lives(keeper))
	}
}

// The keeper decides nothing about a server that may not be ended.
func TestKeptServerIsRefused(t *testing.T) {
	g := newGroup(t)
	keeper := g.keeper("lamplighter-connect", "echo ready; exec tail -f /dev/null")
	in := managed(below(t, keeper, "tail"), keeper)
	in.Pinned = true
	l := New(Options{Limits: quick()})
	if _, err := l.Stop(t.Context(), in, Order{}); !errors.Is(err, ErrPinned) {
		t.Error(err)
	}
	in.Pinned = false
	for _, pid := range []int{in.Identity.PID, keeper.PID} {
		if _, err := l.Stop(t.Context(), in, Order{Force: true, Protect: []int{pid}}); !errors.Is(err, ErrOurs) {
			t.Errorf("%d asks: %v", pid, err)
		}
	}
	if left := g.alive(); !slices.Contains(left, keeper.PID) || !slices.Contains(left, in.Identity.PID) {
		t.Errorf("alive are %v", left)
	}
}
