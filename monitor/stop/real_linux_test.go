//go:build real

package stop

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

// serenaInstance describes a server that is ready.
func serenaInstance(t *testing.T, s *serenatest.Server) monitor.Instance {
	t.Helper()
	return monitor.Instance{
		Identity: identityOf(t, s.ServerPID), Kind: monitor.KindSerena, ProjectName: "alpha",
		Port: s.DashboardPort, MCPURL: s.MCPURL, State: monitor.StateProject, Recognised: true,
	}
}

// patient is a Ladder that gives a real server a minute, instead of a second, to
// say what it does.
func patient() *Ladder { return (&group{}).ladder(Options{}) }

// allGone checks that nothing of a server is left, language servers included. A
// gopls that ends because its server has may have started the go command, or a
// copy of itself that is told apart by its argument (golang.org/x/telemetry,
// start.go), in its last moment. That belongs to nobody then and ends by itself.
func allGone(t *testing.T, s *serenatest.Server, r Result) {
	t.Helper()
	<-s.Done()
	for _, pid := range s.Pids() {
		left, args := named(pid), argsOf(pid)
		// It has no arguments yet as it begins, and none any more as it ends.
		if left.Name == "go" || len(args) == 0 || slices.Contains(args, "** telemetry **") {
			eventually(t, left.String()+" has ended", func() bool { return !slices.Contains(s.Pids(), pid) })
			continue
		}
		t.Errorf("left is %s, %q; steps %s", left, args, kinds(r.Steps))
	}
	for _, e := range r.Steps {
		t.Log(e.At.Format("05.000"), e.Kind, e.Detail)
	}
}

// argsOf are the arguments of a process, none when it is gone.
func argsOf(pid int) []string {
	info, _ := process.Read(pid)
	return info.Args
}

// languageServer waits until the server, which is ready, has started gopls and
// has nothing more to prepare.
func languageServer(t *testing.T, s *serenatest.Server) {
	t.Helper()
	eventually(t, "it is prepared", func() bool {
		task, err := serena.NewClient().LastExecution(t.Context(), s.DashboardPort)
		return err == nil && task != nil && task.Finished
	})
	eventually(t, "gopls runs", func() bool {
		for _, pid := range s.Pids() {
			// Serena asks it for its version first; one that is ending, or has
			// only just begun, shows no arguments; and either starts a copy of
			// itself for a moment that calls itself "** telemetry **".
			info, err := process.Read(pid)
			if err == nil && len(info.Args) > 0 && filepath.Base(info.Args[0]) == "gopls" && !slices.Contains(info.Args, "version") {
				return true
			}
		}
		return false
	})
}

func TestRealSerenaWithItsClientAttached(t *testing.T) {
	for name, uvx := range map[string]bool{"plain": false, "uvx": true} {
		for how, mood := range map[string]syscall.Signal{"well": 0, "suspended": syscall.SIGSTOP} {
			t.Run(name+", "+how, func(t *testing.T) {
				s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), UVX: uvx})
				s.WaitReady(t)
				s.Initialize(t)
				languageServer(t, s)
				in := serenaInstance(t, s)
				if mood != 0 {
					s.Signal(t, mood)
					waitForState(t, s.ServerPID, process.Stopped)
				}
				l := patient()
				dry, err := l.Stop(t.Context(), in, Order{DryRun: true})
				if err != nil || !strings.Contains(dry.Detail, "gopls (") || uvx && !strings.Contains(dry.Detail, fmt.Sprintf("uv (%d)", s.PID)) {
					t.Errorf("%+v, %v", dry, err)
				}
				r, err := l.Stop(t.Context(), in, Order{By: "the menu"})
				if err != nil || r.Outcome != Ended || r.Processes < 2 || r.FreedBytes == 0 {
					t.Fatalf("%+v, %v", r, err)
				}
				if asked := strings.Contains(kinds(r.Steps), "asked"); asked != (mood == 0) {
					t.Errorf("steps %s", kinds(r.Steps))
				}
				allGone(t, s, r)
			})
		}
	}
}

func TestRealSerenaOverHTTPInUse(t *testing.T) {
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), HTTP: true})
	s.WaitReady(t)
	languageServer(t, s)
	in := serenaInstance(t, s)
	address, err := url.Parse(s.MCPURL)
	if err != nil {
		t.Fatal(err)
	}
	g := newGroup(t)
	client, _ := g.helper("connect " + address.Port())
	l := patient()
	if r, err := l.Stop(t.Context(), in, Order{}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("(%d)", client.PID)) {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err := l.Stop(t.Context(), in, Order{Force: true})
	if err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	allGone(t, s, r)
	if !lives(client) {
		t.Error("the client was ended")
	}
}

func TestRealSerenaAtWork(t *testing.T) {
	s := serenatest.Start(t, serenatest.Options{Context: "desktop-app", Project: serenatest.GoProject(t, "alpha")})
	s.WaitReady(t)
	s.Initialize(t)
	in := serenaInstance(t, s)
	answer := s.Begin(t, "execute_shell_command", map[string]any{"command": "sleep 611"})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answer(unheard{t}) // there will be none
	}()
	eventually(t, "it is at work", func() bool {
		tasks, err := serena.NewClient().Queue(t.Context(), in.Port)
		if err != nil || len(tasks) == 0 {
			return false
		}
		tree, err := process.Tree(in.Identity)
		for _, p := range tree {
			if runs(p.PID) == "sleep" {
				return true
			}
		}
		return err != nil
	})
	l := patient()
	_, err := l.Stop(t.Context(), in, Order{})
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "execute_shell_command") {
		t.Fatalf("%v", err)
	}
	if r, err := l.Stop(t.Context(), in, Order{Automatic: true, Force: true}); !errors.Is(err, ErrBusy) {
		t.Fatalf("a policy: %+v, %v", r, err)
	}
	r, err := l.Stop(t.Context(), in, Order{Force: true})
	if err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	allGone(t, s, r)
	<-answered
}

// TestRealOrphanByAPolicy: its client was killed while it was suspended, so that
// it can neither take note nor say what it does.
func TestRealOrphanByAPolicy(t *testing.T) {
	client, err := filepath.Abs("../watch/testdata/bin/client.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, uvx := range map[string]bool{"plain": false, "uvx": true} {
		t.Run(name, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{
				Project: serenatest.GoProject(t, "alpha"), Client: []string{"python3", client}, UVX: uvx,
			})
			s.WaitReady(t)
			in := serenaInstance(t, s)
			languageServer(t, s)
			holder := identityOf(t, s.PID)
			link, err := linkOf(in.Identity, holder)
			if err != nil {
				t.Fatal(err)
			}
			s.Signal(t, syscall.SIGSTOP)
			waitForState(t, s.ServerPID, process.Stopped)
			o := Order{By: "the policy orphans", Automatic: true, Confirm: func(context.Context) error {
				if closed, err := link.Closed(in.Identity); err != nil || !closed {
					return fmt.Errorf("somebody holds its pipes: %w", errors.Join(err, ErrInUse))
				}
				return nil
			}}
			l := patient()
			if r, err := l.Stop(t.Context(), in, o); !errors.Is(err, ErrUnknown) {
				t.Fatalf("with its client, suspended: %+v, %v", r, err)
			}
			orphan(&in)
			if r, err := l.Stop(t.Context(), in, o); !errors.Is(err, ErrChanged) {
				t.Fatalf("its client is there after all: %+v, %v", r, err)
			}
			signalTo(t, s.PID, syscall.SIGKILL)
			eventually(t, "its client is gone", func() bool { return !lives(holder) })
			r, err := l.Stop(t.Context(), in, o)
			if err != nil || r.Outcome != Ended || r.Processes < 2 || r.FreedBytes == 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			allGone(t, s, r)
		})
	}
}

// linkOf is the link of a server to the client that holds it.
func linkOf(server, client monitor.Identity) (process.Link, error) {
	_, link, found, err := process.FindHolder(server, client)
	if err == nil && !found {
		err = errors.New("the client holds no end of it")
	}
	return link, err
}

// unheard is for a call whose answer never comes because its server is ended.
type unheard struct{ testing.TB }

func (unheard) Fatalf(string, ...any) { runtime.Goexit() }

// TestRealGenericServers ends reference servers with their wrappers: npm, sh and
// node; uvx and Python.
func TestRealGenericServers(t *testing.T) {
	for name, command := range map[string][]string{"memory": serenatest.Memory(t), "time": serenatest.Time(t)} {
		t.Run(name, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{Command: command})
			s.Initialize(t)
			in := monitor.Instance{Identity: identityOf(t, s.ServerPID), Kind: name, State: monitor.StateNoProject, Recognised: true}
			processes := len(s.Pids())
			r, err := patient().Stop(t.Context(), in, Order{})
			if err != nil || r.Processes != processes {
				t.Fatalf("%d processes; %+v, %v", processes, r, err)
			}
			if strings.Contains(kinds(r.Steps), "asked") {
				t.Errorf("steps %s", kinds(r.Steps))
			}
			allGone(t, s, r)
		})
	}
}

// TestRealOlderSerenas have no way to be told apart here, and end the same way.
func TestRealOlderSerenas(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17} {
		t.Run(version, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{Version: version, Project: serenatest.GoProject(t, "alpha")})
			s.WaitReady(t)
			languageServer(t, s)
			r, err := patient().Stop(t.Context(), serenaInstance(t, s), Order{})
			if err != nil || !strings.HasPrefix(kinds(r.Steps), "stop_ordered asked") {
				t.Fatalf("%+v, %v", r, err)
			}
			allGone(t, s, r)
		})
	}
}
