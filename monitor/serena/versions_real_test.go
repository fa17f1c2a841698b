//go:build real

package serena_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

var versions = []string{serenatest.Version15, serenatest.Version17, serenatest.Version}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

// patient is a context in which all that is asked for next may take two minutes:
// without a deadline an answer has a second.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestVersions asks each version everything, idle and while a tool runs.
func TestVersions(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			project := serenatest.GoProject(t, "alpha")
			s := serenatest.Start(t, serenatest.Options{Version: version, Project: project, Context: "desktop-app"})
			port := s.WaitReady(t)
			s.Initialize(t)
			c, ctx := serena.NewClient(), patient(t)

			if err := c.Heartbeat(ctx, port); err != nil {
				t.Error(err)
			}
			var o *serena.Overview
			eventually(t, "the overview comes", func() (ok bool) {
				var err error
				o, err = c.Overview(t.Context(), port)
				return err == nil
			})
			// Installed below a git repository, Serena adds that one's revision.
			if told, _, _ := strings.Cut(o.Version, "-"); told != version || o.Project == nil || o.Project.Name != "alpha" || o.Project.Path != project || o.Context.Name != "desktop-app" || len(o.Modes) == 0 {
				t.Errorf("overview %+v, project %+v", o, o.Project)
			}
			if n, err := c.ToolCalls(ctx, port); n != 0 || err != nil {
				t.Errorf("calls before the first: %d, %v", n, err)
			}
			if status := strangersHost(t, port); status != http.StatusForbidden && status != http.StatusBadRequest {
				t.Errorf("another Host is answered with %d", status)
			} else {
				t.Logf("another Host is answered with %d", status)
			}

			goOn := filepath.Join(t.TempDir(), "go on")
			began := filepath.Join(t.TempDir(), "began")
			answer := s.Begin(t, "execute_shell_command", map[string]any{
				"command": fmt.Sprintf("touch '%s'; while ! test -e '%s'; do sleep 0.05; done; echo done", began, goOn),
				"session": "test",
			})
			eventually(t, "the tool is at work", func() bool { _, err := os.Stat(began); return err == nil })
			busy(t, c, port, version)
			if err := os.WriteFile(goOn, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			answer(t)

			ctx = t.Context()
			eventually(t, "the queue is empty", func() bool { q, err := c.Queue(ctx, port); return err == nil && len(q) == 0 })
			// The task ends a moment after its answer was sent.
			eventually(t, "the call is the last execution", func() bool {
				task, err := c.LastExecution(ctx, port)
				return err == nil && task != nil && serena.IsToolCall(task.Name) && !task.IsRunning && task.Finished
			})
			eventually(t, "the call is counted", func() bool { n, err := c.ToolCalls(ctx, port); return err == nil && n == 1 })
			ctx = patient(t)
			if at, err := c.LastCall(ctx, port); err != nil || at.IsZero() {
				t.Errorf("the last call was at %v (%v)", at, err)
			}
			if page, err := c.Logs(ctx, port, 0); err != nil || len(page.Messages) == 0 || page.ActiveProject != "alpha" {
				t.Errorf("log of %d messages, project %q (%v)", len(page.Messages), page.ActiveProject, err)
			}
		})
	}
}

// busy checks what an instance answers while a tool runs: all but the overview,
// which up to 1.5.3 waits for the tool.
func busy(t *testing.T, c *serena.Client, port int, version string) {
	t.Helper()
	for range 2 { // the second time an overview may be waiting
		ctx := patient(t)
		if err := c.Heartbeat(ctx, port); err != nil {
			t.Errorf("while a tool runs: %v", err)
		}
		if q, err := c.Queue(ctx, port); err != nil || len(q) != 1 || !q[0].IsRunning || !serena.IsToolCall(q[0].Name) {
			t.Errorf("queue %+v (%v)", q, err)
		}
		if _, err := c.LastExecution(ctx, port); err != nil {
			t.Errorf("while a tool runs: %v", err)
		}
		if n, err := c.ToolCalls(ctx, port); n != 0 || err != nil {
			t.Errorf("calls before the first has ended: %d, %v", n, err)
		}
		if version == serenatest.Version15 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(t.Context(), serena.AnswerTimeout)
			defer cancel()
		}
		_, err := c.Overview(ctx, port)
		if waits := errors.Is(err, context.DeadlineExceeded); waits != (version == serenatest.Version15) || !waits && err != nil {
			t.Errorf("overview while a tool runs: %v", err)
		}
	}
}

// strangersHost is the status that a request with a foreign Host gets.
func strangersHost(t *testing.T, port int) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/heartbeat", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example"
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestVersionsAreRecognised: by the command lines of the processes that run,
// over both transports and with the project as an argument of its own.
func TestVersionsAreRecognised(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			project := serenatest.GoProject(t, "beta")
			for _, o := range []serenatest.Options{
				{Project: project},
				{HTTP: true, Args: []string{project}},
			} {
				o.Version = version
				s := serenatest.Start(t, o)
				port := s.WaitReady(t)
				info, err := process.Read(s.ServerPID)
				if err != nil {
					t.Fatal(err)
				}
				transport, context := "stdio", "ide"
				if o.HTTP {
					transport, context = "streamable-http", "desktop-app"
				}
				cmd, ok := serena.ParseCommand(info.Exe, info.Args)
				if !ok || cmd.Project != project || cmd.ProjectName() != "beta" || cmd.Context != context || cmd.Transport != transport {
					t.Errorf("%q: %v, %+v", info.Args, ok, cmd)
				}
				c := serena.NewClient()
				eventually(t, "the project is active", func() bool {
					overview, err := c.Overview(t.Context(), port)
					return err == nil && overview.Project != nil && overview.Project.Path == project
				})
			}
		})
	}
}
