package watch

import (
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// noRules recognises nothing.
type noRules struct{}

func (noRules) Match(string, []string) (string, bool) { return "", false }

func (noRules) Hides(string, []string) bool { return false }

// server is a process that does not exist, with Serena's command line.
func server(pid, parent int) process.Info {
	return process.Info{
		Identity: monitor.Identity{PID: pid, Start: uint64(pid)}, Parent: parent,
		Name: "serena", Exe: "/usr/bin/python3", Args: []string{"python3", "/v/bin/serena", "start-mcp-server", "--project", "/p/a"},
	}
}

// started is a machine on which every pid above 1<<30 has a process.
type started struct {
	process.System
	at func(pid int) (start uint64)
}

func (s started) Stat(pid int) (process.Stat, error) {
	if pid <= 1<<30 {
		return process.Stat{}, process.ErrGone
	}
	return process.Stat{Identity: monitor.Identity{PID: pid, Start: s.at(pid)}}, nil
}

func TestOneChainIsOneInstance(t *testing.T) {
	const top, child, grandchild, other = 1<<30 + 1, 1<<30 + 2, 1<<30 + 3, 1<<30 + 9
	gopls := process.Info{Identity: monitor.Identity{PID: grandchild, Start: grandchild}, Parent: child, Name: "gopls", Exe: "/usr/bin/gopls", Args: []string{"gopls"}}
	for name, order := range map[string][]process.Info{
		"parent first": {server(top, 1<<30), server(child, top), server(other, 1<<30)},
		"child first":  {server(child, top), server(other, 1<<30), server(top, 1<<30)},
	} {
		l := New(Options{Rules: noRules{}}).begin(nil)
		l.o.System = started{process.Local(), func(pid int) (start uint64) { return uint64(pid) }}
		l.discover(order, time.Now())
		if len(l.tracked) != 2 {
			t.Fatalf("%s: %d instances", name, len(l.tracked))
		}
		tr := l.tracked[server(top, 0).Identity]
		if tr == nil || len(tr.members) != 2 {
			t.Fatalf("%s: %+v", name, tr)
		}
		// A language server is seen between fork and exec, and then as itself.
		l.discover([]process.Info{server(grandchild, child)}, time.Now())
		l.discover([]process.Info{gopls}, time.Now())
		if want := []monitor.Identity{server(top, 0).Identity, server(child, 0).Identity}; !slices.Equal(tr.members, want) || len(l.tracked) != 2 {
			t.Errorf("%s: members %v", name, tr.members)
		}
		// The dashboard is the child's: it is the server.
		l.moveToOwner(tr, child)
		if l.tracked[server(child, 0).Identity] != tr || len(l.tracked) != 2 || tr.in.Identity.PID != child {
			t.Errorf("%s: not moved", name)
		}
		l.moveToOwner(tr, other)
		if tr.in.Identity.PID != child {
			t.Errorf("%s: moved to a stranger", name)
		}
		// By other rules all are seen again.
		l.discover(order, time.Now())
		if len(l.tracked) != 2 || len(tr.members) != 2 {
			t.Errorf("%s: %d instances, members %v", name, len(l.tracked), tr.members)
		}
		// What owned the port was a fork and has become another program, and
		// then so does the server itself.
		sleep := process.Info{Identity: tr.in.Identity, Exe: "/usr/bin/sleep", Args: []string{"sleep", "9"}}
		l.discover([]process.Info{sleep}, time.Now())
		if _, left := l.tracked[server(child, 0).Identity]; left || len(l.tracked) != 1 {
			t.Errorf("%s: still there", name)
		}
		l.discover([]process.Info{server(top, 1<<30)}, time.Now())
		sleep.Identity = server(top, 0).Identity
		l.discover([]process.Info{sleep}, time.Now())
		if len(l.tracked) != 1 {
			t.Errorf("%s: still there", name)
		}
	}
}

func TestTwoServersStayTwo(t *testing.T) {
	const first, second = 1<<30 + 1, 1<<30 + 2
	another := server(second, first)
	another.Args = append(slices.Clone(another.Args[:4]), "/p/other")
	l := New(Options{Rules: noRules{}}).begin(nil)
	l.o.System = started{process.Local(), func(pid int) (start uint64) { return uint64(pid) }}
	l.discover([]process.Info{server(first, 1<<30), another}, time.Now())
	if len(l.tracked) != 2 {
		t.Errorf("a server that another one started: %d instances", len(l.tracked))
	}

	// The pid of a dead parent belongs to a newer process now.
	l = New(Options{Rules: noRules{}}).begin(nil)
	reused := server(first, 1<<30)
	reused.Start = second + 1
	l.o.System = started{process.Local(), func(int) (start uint64) { return second + 1 }}
	l.discover([]process.Info{server(second, first), reused}, time.Now())
	if len(l.tracked) != 2 {
		t.Errorf("a server with a reused pid: %d instances", len(l.tracked))
	}
}
