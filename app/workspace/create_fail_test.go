package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"testing"
)

// What fails half-way leaves nothing, and says what failed.
func TestCreateFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	from := l.repository("repo", map[string]string{"a": "a"})
	dir := l.source("dir", map[string]string{"a": "a"})
	for _, q := range []Request{{}, {From: dir}, {From: from}} {
		q.Kind, q.Job = Persistent, "job"
		for _, point := range points(t, l, q) {
			if point == "create: done" {
				continue
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			m := l.manager(nil)
			m.crash = func(at string) {
				if at == point {
					cancel(why)
				}
			}
			if w, err := m.Create(ctx, q, nil); err == nil || !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %+v, %v", point, w, err)
			}
			l.clean(m, 0)
			if got := git(t, from, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
				t.Errorf("%s: left %s", point, got)
			}
		}
	}
}

// points are where a creation may be ended, in order.
func points(t *testing.T, l *lab, q Request) []string {
	t.Helper()
	other := newLab(t) // so that nothing is in the way
	other.o.Servers = l.o.Servers
	m := other.manager(nil)
	var list []string
	m.crash = func(at string) { list = append(list, at) }
	if w := other.create(m, q); w.Source.Kind == FromGit {
		git(t, q.From, "worktree", "remove", w.Path)
		git(t, q.From, "branch", "--delete", "--force", w.Source.Branch)
	}
	return list
}

func TestCreateWhereNothingCanBeWritten(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		readOnlyPlace(t)
		return
	}
	l := newLab(t)
	m := l.manager(nil)
	in := l.source("in", nil)
	if err := os.Chmod(in, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", In: in}, nil); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	l.clean(m, 0)
}

// readOnlyPlace is that where permissions hold for nobody or are others: a name
// that is taken makes the same step fail.
func readOnlyPlace(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	in := l.source("in", nil)
	m.crash = func(at string) {
		if at == "create: written down" {
			if err := os.Remove(in); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", In: in}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	l.clean(m, 0)
}

// fakeServers start servers that are no processes.
type fakeServers struct {
	mu      sync.Mutex
	running map[string]int // by directory
	broken  error
	stuck   error // what ending says
	used    []User
}

// fakeServer is a process that is none.
const fakeServer = 1 << 30

func (s *fakeServers) Start(_ context.Context, dir string) (Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = map[string]int{}
	}
	s.running[dir]++
	if s.broken != nil {
		return Server{}, s.broken // and something of it runs
	}
	return Server{SessionID: len(s.running), MCPURL: "http://127.0.0.1/mcp"}, nil
}

func (s *fakeServers) On(_ context.Context, dir string, _ int) (Started, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	started := Started{Used: s.used}
	if s.running[dir] > 0 {
		started.Idle = []int{fakeServer}
	}
	return started, nil
}

func (s *fakeServers) End(_ context.Context, dir string, _ int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck != nil {
		return s.stuck
	}
	delete(s.running, dir)
	return nil
}

func (s *fakeServers) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

func TestCreateServes(t *testing.T) {
	l := newLab(t)
	if _, err := l.manager(nil).Create(t.Context(), Request{Kind: Temp, Job: "j", Serve: true}, nil); !errors.Is(err, ErrNoServer) {
		t.Error(err)
	}
	servers := &fakeServers{}
	l.o.Servers = servers
	m := l.manager(nil)
	w := l.create(m, Request{Serve: true})
	if w.Server == nil || w.Server.MCPURL == "" || servers.running[w.Path] != 1 {
		t.Errorf("%+v", w.Server)
	}
	if plain := l.create(m, Request{}); plain.Server != nil || servers.count() != 1 {
		t.Errorf("%+v", plain.Server)
	}
	servers.broken = errors.New("no Serena")
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", Serve: true}, nil); !errors.Is(err, ErrNoServer) || !errors.Is(err, servers.broken) {
		t.Error(err)
	}
	if servers.count() != 1 {
		t.Error("what was started for nothing still runs")
	}
	l.clean(m, 2)

	// What does not end keeps its tree, until it does.
	servers.stuck = errors.New("it still runs")
	if _, err := m.Create(t.Context(), Request{Kind: Temp, Job: "j", Serve: true}, nil); !errors.Is(err, servers.stuck) {
		t.Error(err)
	}
	if list, err := m.List(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if err := m.Recover(t.Context()); !errors.Is(err, servers.stuck) {
		t.Error(err)
	}
	servers.stuck = nil
	if err := m.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	l.clean(m, 2)
}
