//go:build real && unix

package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
)

// gate is a tool call that runs until it is let go.
type gate struct{ began, goOn string }

func newGate(t *testing.T) gate {
	dir := t.TempDir()
	return gate{filepath.Join(dir, "began"), filepath.Join(dir, "go on")}
}

func (g gate) command() map[string]any {
	return map[string]any{
		"command": fmt.Sprintf("touch '%s'; while ! test -e '%s'; do sleep 0.05; done", g.began, g.goOn), "session": "test",
	}
}

func (g gate) atWork(t *testing.T) {
	t.Helper()
	waitFor(t, "the tool is at work", func() bool { _, err := os.Stat(g.began); return err == nil })
}

func (g gate) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(g.goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// stillIdle waits until a server is idle and, asked now, has been since the last
// snapshot. It returns since when.
func stillIdle(t *testing.T, w *Watch, port int, what string) (id monitor.Identity, since time.Time) {
	t.Helper()
	waitFor(t, what, func() bool {
		in := awaitPort(t, w, port, what, isIdle)
		id, since = in.Identity, in.Evidence.IdleSince
		return w.StillIdle(t.Context(), id, since) == nil
	})
	return id, since
}

// A call resets the time, one that runs for long keeps it away, and a server
// that nobody calls keeps it.
func TestRealIdleSince(t *testing.T) {
	for name, o := range map[string]serenatest.Options{
		"stdio":        {},
		"HTTP":         {HTTP: true},
		"stdio, 1.7.0": {Version: serenatest.Version17},
		"stdio, 1.5.3": {Version: serenatest.Version15},
	} {
		t.Run(name, func(t *testing.T) {
			w := watching(t)
			o.Context, o.Project = "desktop-app", serenatest.GoProject(t, "alpha")
			s := serenatest.Start(t, o)
			port := s.WaitReady(t)
			s.Initialize(t)
			id, first := stillIdle(t, w, port, "idle when it is ready")

			s.Call(t, "get_current_config", map[string]any{"session": "test"})
			if w.StillIdle(t.Context(), id, first) == nil {
				t.Error("it has just been called, and is still idle")
			}
			awaitPort(t, w, port, "idle since the call", func(in *monitor.Instance) bool { return isIdle(in) && in.Evidence.IdleSince.After(first) })
			_, second := stillIdle(t, w, port, "idle since the call, also when it is asked")

			g := newGate(t)
			answer := s.Begin(t, "execute_shell_command", g.command())
			g.atWork(t)
			if w.StillIdle(t.Context(), id, second) == nil {
				t.Error("it is at work, and is still idle")
			}
			in := awaitPort(t, w, port, "at work", func(in *monitor.Instance) bool { return in != nil && in.Evidence.IdleSince.IsZero() })
			for range 3 { // each later look says the same
				beat := in.LastHeartbeat
				in = awaitPort(t, w, port, "looked at again", func(in *monitor.Instance) bool {
					if in == nil || !in.Evidence.IdleSince.IsZero() {
						t.Fatalf("idle while a tool runs: %+v", in)
					}
					return in.LastHeartbeat.After(beat)
				})
			}
			refused(t, "at work", w.StillIdle(t.Context(), id, time.Now()), "not known to be idle")
			g.open(t)
			answer(t)
			if _, third := stillIdle(t, w, port, "idle when the tool is done"); !third.After(second) {
				t.Errorf("idle since %v, before the tool ran", third)
			}
			if in := awaitPort(t, w, port, "its evidence", isIdle); in.Evidence.Transport != map[bool]string{true: "http", false: "stdio"}[o.HTTP] ||
				in.Evidence.KeepsState == nil || *in.Evidence.KeepsState || in.Evidence.ClientGone || in.Evidence.Orphaned || !in.Evidence.RedSince.IsZero() {
				t.Errorf("%+v", in.Evidence)
			}
		})
	}
}

// The interface tells whether a server keeps variables, also before it is used.
func TestRealKeepsState(t *testing.T) {
	for name, keeps := range map[string]bool{"REPL": true, "tools": false} {
		t.Run(name, func(t *testing.T) {
			w := watching(t)
			s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Args: []string{"--agent-interface", name}})
			port := s.WaitReady(t)
			awaitPort(t, w, port, "it says so", func(in *monitor.Instance) bool {
				return in != nil && in.Evidence.KeepsState != nil && *in.Evidence.KeepsState == keeps
			})
			if !keeps {
				return
			}
			// A call of its one tool counts as any.
			s.Initialize(t)
			id, first := stillIdle(t, w, port, "idle")
			if got := s.Call(t, "serena_repl", map[string]any{"session": "test", "code": "x = 41\nx + 1"}); !strings.Contains(got, "42") {
				t.Errorf("it says %q", got)
			}
			if w.StillIdle(t.Context(), id, first) == nil {
				t.Error("it has just been called, and is still idle")
			}
			awaitPort(t, w, port, "idle since the call", func(in *monitor.Instance) bool { return isIdle(in) && in.Evidence.IdleSince.After(first) })
		})
	}
}

// unanswered is for a call that ends with an error.
type unanswered struct{ testing.TB }

func (unanswered) Fatalf(string, ...any) { runtime.Goexit() }

// A call that takes too long goes on outside the queue: its server has nothing
// to do by its own word, and is not idle.
func TestRealCallThatIsCutOff(t *testing.T) {
	for _, version := range []string{serenatest.Version, serenatest.Version17} {
		t.Run(version, func(t *testing.T) {
			w := watching(t)
			s := serenatest.Start(t, serenatest.Options{
				Version: version, Context: "desktop-app", Project: serenatest.GoProject(t, "alpha"), Args: []string{"--tool-timeout", "10"},
			})
			port := s.WaitReady(t)
			s.Initialize(t)
			id, first := stillIdle(t, w, port, "idle")
			g := newGate(t)
			answer := s.Begin(t, "execute_shell_command", g.command())
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				answer(unanswered{t})
			}()
			g.atWork(t)
			awaitPort(t, w, port, "at work", func(in *monitor.Instance) bool { return in.Busy != nil && *in.Busy })
			// One that waits behind it is the last that the server tells of.
			behind := s.Begin(t, "get_current_config", map[string]any{"session": "test"})
			go behind(unanswered{t})
			<-answered
			awaitPort(t, w, port, "cut off", func(in *monitor.Instance) bool {
				return in.Busy != nil && !*in.Busy && in.Evidence.IdleSince.IsZero()
			})
			refused(t, "cut off", w.StillIdle(t.Context(), id, first), "not known to be idle")
			// Another call makes nobody forget it.
			s.Call(t, "get_current_config", map[string]any{"session": "test"})
			awaitPort(t, w, port, "called again", func(in *monitor.Instance) bool {
				if !in.Evidence.IdleSince.IsZero() {
					t.Fatalf("idle since %v", in.Evidence.IdleSince)
				}
				return in.ToolCalls != nil && *in.ToolCalls > 0 && !*in.Busy
			})
			g.open(t)
		})
	}
}
