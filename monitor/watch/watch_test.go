//go:build unix

package watch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

const patience = 2 * time.Minute

// patient gives answers as long on a busy machine.
var patient = func() limits {
	l := usual
	l.once, l.probe, l.answer = patience, patience, patience
	return l
}()

// toldAll reports whether a server has answered everything: on a slow machine one
// answer may come too late, and is not known then.
func toldAll(in *monitor.Instance) bool { return in != nil && in.Busy != nil && in.ToolCalls != nil }

func TestLifeOfAnInstance(t *testing.T) {
	t.Parallel()
	f := startFake(t, answers{"project": "alpha"}) // its memory is measured when it is found
	w := watching(t)
	in := await(t, w, f.pid, "green", patience, func(in *monitor.Instance) bool {
		return inState(monitor.StateProject, "")(in) && toldAll(in)
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if in.Port != f.port || in.ProjectName != "alpha" || in.ProjectRoot != "/p/alpha" || in.Context != "ide" || in.Version != "2.1.0" ||
		*in.ToolCalls != 0 || in.Client == nil || in.Client.PID != os.Getpid() || !strings.HasPrefix(filepath.Base(self), in.Client.Name) ||
		in.StartedAt.IsZero() || in.LastHeartbeat.IsZero() || in.RSSBytes < 1<<20 || *in.Busy || !in.LastActivity.Equal(in.StartedAt) {
		t.Errorf("incomplete: %+v, client %+v", in, in.Client)
	}

	// It works on a call, which activates another project: seen by its use of
	// the CPU, without waiting for the next round of probes.
	f.say(t, answers{"project": "alpha", "burn": true, "queue": []answers{task("Task-2:ActivateProjectTool")}})
	await(t, w, f.pid, "busy", patience, func(in *monitor.Instance) bool { return in != nil && in.Busy != nil && *in.Busy })
	f.say(t, answers{"project": "beta", "calls": 1, "last": task("Task-2:ActivateProjectTool")})
	in = await(t, w, f.pid, "the other project", patience, func(in *monitor.Instance) bool {
		return toldAll(in) && in.ProjectName == "beta" && !*in.Busy && *in.ToolCalls > 0
	})
	if in.LastActivity.Equal(in.StartedAt) || *in.ToolCalls != 1 {
		t.Errorf("the call did not count: %+v", in)
	}
	f.say(t, answers{"burn": true, "last": task("Task-3:RemoveProjectTool")})
	await(t, w, f.pid, "no project", patience, inState(monitor.StateNoProject, ""))
	f.say(t, answers{"project": "alpha", "last": task("Task-4:ActivateProjectTool"), "burn": true})
	await(t, w, f.pid, "green again", patience, inState(monitor.StateProject, ""))
	f.say(t, answers{"project": "alpha", "last": task("Task-4:ActivateProjectTool")})

	f.signal(t, syscall.SIGSTOP)
	await(t, w, f.pid, "suspended", patience, inState(monitor.StateZombie, monitor.CauseSuspended))
	f.signal(t, syscall.SIGCONT)
	await(t, w, f.pid, "continued", patience, inState(monitor.StateProject, ""))

	f.signal(t, syscall.SIGKILL)
	await(t, w, f.pid, "killed", patience, gone)
}

func TestUnreachableAndHealed(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]answers{
		"hangs":                  {"hang": true},
		"another program's page": {"raw": "<title>Jupyter</title>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := drive(t)
			good := answers{"project": "alpha"}
			f := startFake(t, good)
			d.await(f.pid, "green", inState(monitor.StateProject, ""))
			f.say(t, broken)
			in := d.await(f.pid, "unreachable", inState(monitor.StateZombie, monitor.CauseUnreachable))
			if in.ProjectName != "alpha" || in.Reason == "" {
				t.Errorf("what was known is kept: %+v", in)
			}
			f.say(t, good)
			d.await(f.pid, "healed", inState(monitor.StateProject, ""))
		})
	}
}

// A dashboard that never was one leaves the instance starting, and the first
// good answer makes it live.
func TestBadAnswersWhileStarting(t *testing.T) {
	t.Parallel()
	w := watching(t)
	f := startFake(t, answers{"raw": "warming up", "status": 404})
	in := await(t, w, f.pid, "starting", patience, inState(monitor.StateStarting, ""))
	if in.Port != 0 || in.DashboardURL != "" {
		t.Errorf("a stranger's page is not its dashboard: %+v", in)
	}
	f.say(t, answers{"project": "alpha"})
	await(t, w, f.pid, "live", time.Minute, inState(monitor.StateProject, ""))
}

// A fault in one route is not the end: the heartbeat decides.
func TestOneRouteOutOfOrder(t *testing.T) {
	t.Parallel()
	f := startFake(t, answers{"project": "alpha", "broken": []string{"/last_execution", "/queued_task_executions"}})
	s, err := Once(t.Context(), Options{limits: patient})
	if err != nil {
		t.Fatal(err)
	}
	if found := withPID(s, f.pid); len(found) != 1 || found[0].State != monitor.StateProject || found[0].Busy != nil {
		t.Errorf("got %+v", found)
	}
}

// A wrapper that was killed and not reaped has neither memory nor children; the
// server goes on without it.
func TestUnreapedWrapper(t *testing.T) {
	t.Parallel()
	f := startFake(t, answers{"project": "alpha"}, "timeout", "--foreground", "600")
	w := New(Options{})
	l := w.begin(nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer l.probes.Wait()
	defer cancel()
	now := time.Now()
	l.tick(ctx, now)
	server := l.findInstance(func(tr *tracked) bool { return tr.root.PID == f.pid })
	if server == nil || server.in.Processes != 2 {
		t.Fatalf("not found below its wrapper: %+v", server)
	}
	t.Cleanup(func() { syscall.Kill(server.in.Identity.PID, syscall.SIGKILL) })
	f.signal(t, syscall.SIGKILL)
	waitFor(t, "the wrapper has ended", func() bool {
		st, err := process.ReadStat(f.pid)
		return err != nil || st.State == process.Unreaped
	})
	l.sampleTree(server, now.Add(time.Minute))
	if server.root != server.in.Identity || server.in.Processes != 1 || server.in.RSSBytes < 1<<20 || !server.hasMember(server.in.Identity.PID) {
		t.Errorf("%+v, root %v, members %v", server.in, server.root, server.members)
	}
}

// One that was suspended before anybody could ask it still has its port.
func TestSuspendedBeforeItWasSeen(t *testing.T) {
	t.Parallel()
	f := startFake(t, answers{"project": "alpha"})
	f.signal(t, syscall.SIGSTOP)
	w := watching(t)
	await(t, w, f.pid, "suspended", patience, inState(monitor.StateZombie, monitor.CauseSuspended))
	f.signal(t, syscall.SIGCONT)
	await(t, w, f.pid, "continued", patience, inState(monitor.StateProject, ""))
}

func TestDefunct(t *testing.T) {
	t.Parallel()
	d := drive(t)
	f := startFake(t, answers{"project": "alpha"})
	d.await(f.pid, "green", inState(monitor.StateProject, ""))
	f.signal(t, syscall.SIGKILL)
	d.await(f.pid, "gone at once", gone)
	d.await(f.pid, "defunct", inState(monitor.StateZombie, monitor.CauseDefunct))
	f.cmd.Wait()
	d.await(f.pid, "reaped", gone)
}

func TestOnce(t *testing.T) {
	t.Parallel()
	stamp := time.Now().Add(-10 * time.Minute).Truncate(time.Second)
	f := startFake(t, answers{"project": "alpha", "last": task("Task-7:FindSymbolTool"),
		"log": []string{"INFO  " + stamp.Format(time.DateTime) + ",000 [Task-7:FindSymbolTool] serena.task_executor:stop:336 - done"}})
	s, err := Once(t.Context(), Options{Warnings: []string{"careful"}, limits: patient})
	if err != nil {
		t.Fatal(err)
	}
	found := withPID(s, f.pid)
	if len(found) != 1 || found[0].State != monitor.StateProject || !found[0].LastActivity.Equal(stamp) || found[0].CPUPercent != nil {
		t.Errorf("got %+v", found)
	}
	if len(s.Warnings) != 1 {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestQuietMeansNoSnapshots(t *testing.T) {
	t.Parallel()
	w := New(Options{})
	l := w.begin(nil)
	now := time.Now()
	w.publish(l, now)
	if got := w.Snapshot(); got.Seq != 0 {
		t.Error("a snapshot before the first look")
	}
	l.firstTick = now
	w.publish(l, now)
	before := w.Snapshot()
	if before.Seq != 1 {
		t.Error("no snapshot after the first look, although there is nothing to see")
	}
	for range 10 {
		now = now.Add(time.Second)
		w.publish(l, now)
	}
	if w.Snapshot() != before {
		t.Error("a snapshot without a change")
	}
	w.SetWarnings([]string{"x"})
	w.readInbox(t.Context(), l)
	w.publish(l, now)
	if got := w.Snapshot(); got == before || len(got.Warnings) != 1 {
		t.Error("a warning is a change")
	}
}
