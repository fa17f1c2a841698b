package serena_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

// patient is a context in which an answer may take a minute: without a deadline it
// has a second.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestVersions asks each version everything, in every state.
func TestVersions(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			s := serenatest.Replay(t, version, serenatest.NoProject)
			c, ctx := serena.NewClient(), patient(t)
			overview := func() *serena.Overview {
				t.Helper()
				o, err := c.Overview(ctx, s.Port)
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			calls := func(want int64) {
				t.Helper()
				if n, err := c.ToolCalls(ctx, s.Port); n != want || err != nil {
					t.Errorf("%d calls, %v, want %d", n, err, want)
				}
			}
			last := func() *serena.Task {
				t.Helper()
				task, err := c.LastExecution(ctx, s.Port)
				if err != nil {
					t.Fatal(err)
				}
				return task
			}
			queue := func() []serena.Task {
				t.Helper()
				tasks, err := c.Queue(ctx, s.Port)
				if err != nil {
					t.Fatal(err)
				}
				return tasks
			}

			if err := c.Heartbeat(ctx, s.Port); err != nil {
				t.Error(err)
			}
			if o := overview(); o.Version != version || o.Project != nil || o.Context.Name != "desktop-app" || len(o.Modes) == 0 || o.KeepsState() == nil || *o.KeepsState() {
				t.Errorf("overview %+v", o)
			}
			called := func() bool {
				t.Helper()
				records, _, err := c.Records(ctx, s.Port, -1)
				if err != nil {
					t.Error(err)
				}
				return !serena.LastCall(records).IsZero()
			}
			calls(0)
			if task := last(); task != nil {
				t.Errorf("before the first call: %+v", task)
			}
			if called() {
				t.Error("there was a call before the first")
			}
			if page, err := c.Logs(ctx, s.Port, 0); err != nil || len(page.Messages) == 0 {
				t.Errorf("log of %d messages (%v)", len(page.Messages), err)
			}

			s.Enter(serenatest.Project)
			if o := overview(); o.Project == nil || o.Project.Name != "alpha" || o.Project.Path != "/home/user/alpha" {
				t.Errorf("overview %+v, project %+v", o, o.Project)
			}
			if task := last(); task == nil || serena.IsToolCall(task.Name) || task.IsRunning || !task.Finished {
				t.Errorf("when the project is ready: %+v", task)
			}

			s.Enter(serenatest.Busy)
			for range 2 { // the second time tasks of the dashboard wait as well
				if q := queue(); len(q) != 1 || !q[0].IsRunning || !serena.IsToolCall(q[0].Name) {
					t.Errorf("queue %+v", q)
				}
			}
			calls(2)
			waits := version == serenatest.Version15
			if waits {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
			}
			if _, err := c.Overview(ctx, s.Port); errors.Is(err, context.DeadlineExceeded) != waits || !waits && err != nil {
				t.Errorf("overview while a tool runs: %v", err)
			}
			ctx = patient(t)

			s.Enter(serenatest.Called)
			if q := queue(); len(q) != 0 {
				t.Errorf("queue %+v", q)
			}
			if task := last(); task == nil || !serena.IsToolCall(task.Name) || task.IsRunning || !task.Finished || task.CutOff() {
				t.Errorf("after the call: %+v", task)
			}
			calls(3)
			if !called() {
				t.Error("the log tells of no call")
			}

			s.Enter(serenatest.CutOff)
			if task := last(); !task.CutOff() || len(queue()) != 0 {
				t.Errorf("after a call that was cancelled: %+v", task)
			}
			calls(3)
		})
	}
}

// TestREPL: that a server keeps variables is told by its overview.
func TestREPL(t *testing.T) {
	s := serenatest.Replay(t, serenatest.Version, serenatest.REPL)
	o, err := serena.NewClient().Overview(patient(t), s.Port)
	if err != nil || o.KeepsState() == nil || !*o.KeepsState() {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestVersionsAreRecognised: by the command lines of their processes.
func TestVersionsAreRecognised(t *testing.T) {
	for _, version := range serenatest.Versions {
		tr := serenatest.Recorded(t, version)
		cmd, ok := serena.ParseCommand(tr.Exe, tr.Args)
		if !ok || cmd.Project != "" || cmd.Context != "desktop-app" || cmd.Transport != "streamable-http" {
			t.Errorf("%q: %v, %+v", tr.Args, ok, cmd)
		}
		for _, project := range [][]string{{"/home/user/beta"}, {"--project", "/home/user/beta"}, {"--project=/home/user/beta"}} {
			cmd, ok := serena.ParseCommand(tr.Exe, slices.Concat(tr.Args, project))
			if !ok || cmd.Project != "/home/user/beta" || cmd.ProjectName() != "beta" {
				t.Errorf("%q: %v, %+v", project, ok, cmd)
			}
		}
	}
}
