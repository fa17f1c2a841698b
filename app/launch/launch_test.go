package launch

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// allGone checks that nothing is left of a launch: no process, no record.
func allGone(t *testing.T, state, id string, ids ...monitor.Identity) {
	t.Helper()
	for _, each := range ids {
		if lives(each) {
			t.Errorf("process %v lives", each)
		}
	}
	if left, err := process.Marked(launchMark, id); err == nil && len(left) > 0 {
		t.Errorf("%v carry the mark", left)
	}
	if _, err := os.Stat(filepath.Join(state, serversDir, id)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its directory: %v", err)
	}
}

// dead waits for the end of processes that are ended already. One that is killed
// has lost its mark, by which it would be found, before it lives no more.
func dead(t *testing.T, ids ...monitor.Identity) {
	t.Helper()
	apptest.Eventually(t, "who was killed lives no more", func() bool { return !slices.ContainsFunc(ids, lives) })
}

// nothingLeft checks that no launch has left anything in a state directory.
func nothingLeft(t *testing.T, state string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(state, serversDir))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func answers(port int) bool {
	c, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// TestLaunch starts servers of all habits for real, and ends them.
func TestLaunch(t *testing.T) {
	for name, spec := range map[string]Spec{
		"plain":          order(),
		"events":         order("--events"),
		"port late":      order("--late", "300ms"),
		"other port":     order("--other", "--late", "50ms"),
		"port given":     order("--other", "--port", portMark),
		"port file":      order("--other", "--port-file", portFileMark),
		"under wrappers": order("--wrap"),
		"prints much":    order("--flood", strconv.Itoa(3<<20)),
		"older": func() Spec {
			s := order("--sse")
			s.Template.Transport = SSE
			return s
		}(),
		"dashboard": func() Spec {
			s := order("--dashboard", "--late", "50ms")
			s.Template.Name = monitor.KindSerena
			return s
		}(),
		"in the project": func() Spec {
			s := order()
			s.Project = t.TempDir()
			s.Template.Directory = projectMark
			return s
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			var told []monitor.Launch
			var events []string
			l, stop := running(t, state, func(l *Launcher) {
				l.o.Tell = func(m monitor.Launch) { told = append(told, m) }
				l.o.Record = func(e monitor.Event) { events = append(events, string(e.Kind)) }
				l.o.Limits.Keeper = time.Minute // nothing is to be killed because the machine is slow
			})
			s, err := l.Launch(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if !lives(s.Identity()) || !lives(s.ids.keeper) || s.Identity() == s.ids.keeper {
				t.Errorf("keeper %v, server %v", s.ids.keeper, s.Identity())
			}
			now, err := looker(s.ids.keeper)()
			if owner, ok := now.owner(s.Port()); err != nil || !ok || owner != s.Identity() {
				t.Errorf("port %d belongs to %v, not to %v: %v", s.Port(), owner, s.Identity(), err)
			}
			want := "http://127.0.0.1:" + strconv.Itoa(s.Port()) + spec.Template.path()
			if s.MCPURL() != want || (s.DashboardPort() != 0) != (name == "dashboard") || s.DashboardPort() == s.Port() {
				t.Errorf("%s, dashboard %d", s.MCPURL(), s.DashboardPort())
			}
			r, err := readRecord(s.dir, s.ID())
			if err != nil || r.identities() != s.ids || r.Port != s.Port() || r.Project != spec.Project || r.AskedBy.Name != "the test" {
				t.Errorf("%+v, %v", r, err)
			}
			if len(told) != 1 || told[0].Server != s.Identity() || told[0].AskedBy.Name != "the test" || told[0].Kind != spec.Template.Name {
				t.Errorf("%+v", told)
			}
			if list := l.Servers(); len(list) != 1 || list[0] != s || len(l.adopted()) != 0 {
				t.Errorf("%v", list)
			}
			var each sync.WaitGroup
			for range 3 {
				each.Go(func() {
					if err := s.End(t.Context(), "the test"); err != nil {
						t.Error(err)
					}
				})
			}
			each.Wait()
			<-s.Done()
			if s.Ending() != "ended by the test" {
				t.Error(s.Ending())
			}
			if got := strings.Join(events, " "); got != "stop_ordered terminated ended" {
				t.Error(got)
			}
			allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
			if answers(s.Port()) || len(l.Servers()) != 0 {
				t.Error("it is still there")
			}
			if err := s.End(t.Context(), "the test"); err != nil {
				t.Error(err)
			}
			stop()
		})
	}
}

// TestFailures starts what never becomes a server: each is explained, and
// nothing is left.
func TestFailures(t *testing.T) {
	long := func(s Spec) Spec { s.Limit = 5 * time.Second; return s } // enough to listen in
	t.Cleanup(func() { nobody(t) })
	failures := map[string]Spec{
		"it exited with status 3 before it accepted MCP. Its last lines: hello": order("--print", "hello", "--exit", "3"),
		"it exited with status 0 before it accepted MCP":                        order("--exit", "0"),
		"it did not accept MCP within 5 s; it listened on no port":              long(order("--silent")),
		"noise noise":                                long(order("--silent", "--flood", "200000")),
		"refused it with HTTP status 404":            func() Spec { s := long(order()); s.Template.Path = "/other"; return s }(),
		"has not answered":                           long(order("--other", "--late", "1h")),
		"it did not listen on port":                  long(order("--late", "1h", "--port", portMark)),
		"it listened on no port that it has written": long(order("--port-file", portFileMark, "--silent")),
		"it could not be run":                        {Template: Template{Name: "x", Command: []string{filepath.Join(absolutePath, "no such program")}}, Project: absolutePath, Lifetime: Session},
		"has no absolute path":                       {Template: Template{Name: "x", Command: []string{"x"}}, Project: absolutePath, Lifetime: Session},
		"where it is to run, cannot be used":         func() Spec { s := order(); s.Template.Directory = filepath.Join(absolutePath, "no such"); return s }(),
		"there is no lifetime":                       func() Spec { s := order(); s.Lifetime = ""; return s }(),
	}
	if runtime.GOOS == "linux" { // elsewhere there is no such address
		failures["which 127.0.0.1 does not reach: make it listen on 127.0.0.1"] = long(order("--host", "127.0.0.2", "--port", portMark))
	}
	for want, spec := range failures {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			l, _ := running(t, state, nil)
			s, err := l.Launch(t.Context(), spec)
			var failed *StartError
			if s != nil || !errors.As(err, &failed) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, %v", s, err)
			}
			nothingLeft(t, state)
		})
	}
}

// TestWhoAsked is asked for when the server has been started, not before.
func TestWhoAsked(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, nil)
	spec, asked := order(), 0
	spec.AskedBy = func() monitor.Client {
		if asked++; !started(state) {
			t.Error("nothing is started yet")
		}
		return monitor.Client{Identity: monitor.Identity{PID: 7, Start: 8}, Name: "Codex"}
	}
	s, err := l.Launch(t.Context(), spec)
	if err != nil || asked != 1 || s.rec.client().Name != "Codex" {
		t.Fatalf("asked %d times, %v", asked, err)
	}
	spec.AskedBy = nil
	if s, err = l.Launch(t.Context(), spec); err != nil || s.rec.client() != (monitor.Client{}) {
		t.Errorf("%v", err)
	}
}

// TestGivingUp ends the context of a start.
func TestGivingUp(t *testing.T) {
	state := t.TempDir()
	l, stop := running(t, state, nil)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := l.Launch(ctx, order("--silent"))
		failed <- err
	}()
	apptest.Eventually(t, "it is being started", func() bool { return started(state) })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	nothingLeft(t, state)
	nobody(t)

	go func() {
		_, err := l.Launch(t.Context(), order("--silent"))
		failed <- err
	}()
	apptest.Eventually(t, "it is being started", func() bool { return started(state) })
	go stop()
	if err := <-failed; !errors.Is(err, errClosing) {
		t.Error(err)
	}
	stop()
	nothingLeft(t, state)
	nobody(t)
	if _, err := l.Launch(t.Context(), order()); !errors.Is(err, errClosing) {
		t.Error(err)
	}
}

// started reports whether a keeper runs according to the records.
func started(state string) bool {
	dirs, _ := os.ReadDir(filepath.Join(state, serversDir))
	for _, d := range dirs {
		if r, err := readRecord(filepath.Join(state, serversDir, d.Name()), d.Name()); err == nil && r.Keeper != "" {
			return true
		}
	}
	return false
}

// TestServersThatEnd ends servers by themselves: what they leave is cleared
// away.
func TestServersThatEnd(t *testing.T) {
	t.Cleanup(func() { nobody(t) })
	for _, args := range [][]string{{"--child"}, {"--wrap"}, {"--wrap", "--child"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			state := t.TempDir()
			l, _ := running(t, state, nil)
			s, err := l.Launch(t.Context(), order(args...))
			if err != nil {
				t.Fatal(err)
			}
			h, err := process.Hold(s.Identity())
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Kill(); err != nil {
				t.Fatal(err)
			}
			h.Close()
			<-s.Done()
			allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
			if s.Ending() == "" {
				t.Error("it does not say how it ended")
			}
		})
	}
}

// TestWithoutAPlace refuses to launch where there is no record to be kept.
func TestWithoutAPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{
		"":   "no place for the records",
		file: "cannot be made",
	} {
		l := New(Options{StateDir: state, Program: keeperPath(t)})
		l.finder = given{}
		if _, err := l.Launch(t.Context(), order()); !errors.Is(err, errNotOpen) {
			t.Error(err)
		}
		if err := l.Open(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", state, err)
		}
		if _, err := l.Launch(t.Context(), order()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", state, err)
		}
	}
	l, _ := running(t, t.TempDir(), func(l *Launcher) { l.o.Program = file + "no" })
	if _, err := l.Launch(t.Context(), order()); err == nil || !strings.Contains(err.Error(), "install lamplighter again") {
		t.Error(err)
	}
}

// TestTheLock is held by one launcher at a time, and replaced when it is lost.
func TestTheLock(t *testing.T) {
	state := t.TempDir()
	l, stop := running(t, state, nil)
	other := aliveLock{path: filepath.Join(state, aliveFile)}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockEvery)
	defer cancel()
	if err := other.take(ctx); !errors.Is(err, errAliveTaken) {
		t.Error(err)
	}
	if err := os.Remove(other.path); err == nil { // Windows lets nobody do that
		s, err := l.Launch(t.Context(), order())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*lockEvery)
		defer cancel()
		if err := other.take(ctx); !errors.Is(err, errAliveTaken) {
			t.Error("the file is replaced and nobody holds it:", err)
		}
		if err := s.End(t.Context(), "the test"); err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := other.take(t.Context()); err != nil {
		t.Error(err)
	}
	if err := other.release(); err != nil {
		t.Error(err)
	}
}

// TestManyAtOnce starts 50 servers at the same time.
func TestManyAtOnce(t *testing.T) {
	state := t.TempDir()
	l, stop := running(t, state, func(l *Launcher) {
		l.o.Limits.Keeper, l.o.Limits.Close = time.Minute, time.Minute // nothing is to be killed because the machine is slow
	})
	const many = 50
	var each sync.WaitGroup
	for range many {
		each.Go(func() {
			if _, err := l.Launch(t.Context(), order()); err != nil {
				t.Error(err)
			}
		})
	}
	each.Wait()
	ports := map[int]bool{}
	servers := l.Servers()
	for _, s := range servers {
		ports[s.Port()] = true
	}
	if len(ports) != many {
		t.Errorf("%d ports", len(ports))
	}
	stop()
	for _, s := range servers {
		allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
		if s.Ending() != "ended by the end of lamplighter" {
			t.Error(s.Ending())
		}
	}
}

// A server for all clients that could serve nobody is not kept, and the next start
// succeeds as soon as its project is back.
func TestSharedServerHasItsProject(t *testing.T) {
	serena := func(project string) Spec {
		// As a real one, it logs well before it listens: what it logs passes the keeper.
		spec := order("--late", "500ms", "--needs", filepath.Join(project, ".serena"))
		spec.Template.Name, spec.Project, spec.Lifetime = monitor.KindSerena, project, Shared
		return spec
	}
	state, project := t.TempDir(), filepath.Join(t.TempDir(), "alpha")
	told := 0
	l, _ := running(t, state, func(l *Launcher) {
		l.o.Tell = func(monitor.Launch) { told++ }
		l.o.Limits.Keeper = time.Minute // nothing is to be killed because the machine is slow
	})
	refused := func(want string) {
		t.Helper()
		_, err := l.Launch(t.Context(), serena(project))
		if !errors.Is(err, ErrNoProject) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), project) || !strings.Contains(err.Error(), "ask again") {
			t.Errorf("%v", err)
		}
		if len(l.Servers()) != 0 || told != 0 {
			t.Error("it is kept")
		}
		nothingLeft(t, state)
	}
	refused("there is no directory")
	if err := os.WriteFile(project, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("there is no directory")
	if err := errors.Join(os.Remove(project), os.Mkdir(project, 0o700)); err != nil {
		t.Fatal(err)
	}
	refused("could not open")
	refused("Its last lines: ERROR Error activating project")
	spec := serena(project)
	spec.Lifetime = Session
	own, err := l.Launch(t.Context(), spec) // whoever has it alone can give it a project
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(project, ".serena"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := l.Launch(t.Context(), serena(project))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Server{own, all} {
		if err := s.End(t.Context(), "the test"); err != nil {
			t.Error(err)
		}
	}
}
