//go:build linux

package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// told collects the events of a watch.
type told struct {
	mu     sync.Mutex
	events []monitor.Event
}

func (e *told) record(one monitor.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, one)
}

// of are the events about a process, "started asked for by curl", in their order.
func (e *told) of(pid int) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []string
	for _, one := range e.events {
		if one.PID == pid {
			list = append(list, strings.TrimSpace(string(one.Kind)+" "+one.Detail))
		}
	}
	return list
}

// recording runs a watch whose events are collected. It has looked once: what is
// started from now on was not there before.
func recording(t *testing.T, o Options) (*Watch, *told) {
	t.Helper()
	e := &told{}
	o.Record = e.record
	w := New(o)
	serve(t, w)
	waitFor(t, "the first look", func() bool { return w.Snapshot().Seq > 0 })
	return w, e
}

func identityOf(t testing.TB, pid int) monitor.Identity {
	t.Helper()
	st, err := process.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return st.Identity
}

// listens is a server that no rule knows, called by a template.
func listens(t *testing.T) *fake {
	t.Helper()
	path := filepath.Join(t.TempDir(), "letterbox.py")
	if err := os.WriteFile(path, []byte("import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\nprint(s.getsockname()[1], flush=True)\nthreading.Event().wait()\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return startScript(t, path, answers{})
}

var curl = monitor.Client{Identity: monitor.Identity{PID: 1 << 30, Start: 1}, Name: "curl"}

func template(t *testing.T, f *fake) monitor.Launch {
	t.Helper()
	return monitor.Launch{
		Server: identityOf(t, f.pid), Kind: "mail", Port: f.port, MCPURL: "http://127.0.0.1:" + strconv.Itoa(f.port) + "/mcp",
		Project: "/home/u/alpha", Lifetime: "session", AskedBy: &curl,
	}
}

// What no rule knows is an instance because we have started it, with all that is
// known of it at once, and stays one whatever the rules say.
func TestLaunchedByATemplate(t *testing.T) {
	t.Parallel()
	w, events := recording(t, Options{Rules: noRules{}})
	f := listens(t)
	a := template(t, f)
	w.Launched(a)
	w.Launched(a)
	in := await(t, w, f.pid, "managed", patience, inState(monitor.StateLive, ""))
	if !in.Managed || !in.Recognised || in.Kind != "mail" || in.Port != f.port || in.MCPURL != a.MCPURL || in.DashboardURL != "" ||
		in.ProjectName != "alpha" || in.ProjectRoot != "/home/u/alpha" || in.Client == nil || *in.Client != curl {
		t.Errorf("%+v", in)
	}
	for _, r := range []Rules{named("letterbox"), noRules{}, named("other")} {
		w.SetRules(r)
		late := listens(t)
		w.Launched(template(t, late))
		await(t, w, late.pid, "a later one", patience, func(in *monitor.Instance) bool { return in != nil && in.Managed })
		in := await(t, w, f.pid, "still there", patience, inState(monitor.StateLive, ""))
		if !in.Managed || in.Kind != "mail" {
			t.Errorf("by other rules %+v", in)
		}
	}
	if got := events.of(f.pid); !slices.Equal(got, []string{"started asked for by curl"}) {
		t.Errorf("events %q", got)
	}
	f.signal(t, syscall.SIGKILL)
	await(t, w, f.pid, "gone", patience, gone)
	f.cmd.Wait() // until then it has an entry in the process table
}

// A Serena that the scan has found first is the same instance afterwards.
func TestLaunchedAfterItWasFound(t *testing.T) {
	t.Parallel()
	w, events := recording(t, Options{})
	f := startFake(t, answers{"project": "alpha"})
	found := await(t, w, f.pid, "found", patience, inState(monitor.StateProject, ""))
	if found.Managed {
		t.Errorf("%+v", found)
	}
	w.Launched(monitor.Launch{Server: found.Identity, Kind: monitor.KindSerena, Port: 1, DashboardPort: f.port, MCPURL: "http://127.0.0.1:1/mcp", AskedBy: &curl})
	in := await(t, w, f.pid, "managed", patience, func(in *monitor.Instance) bool { return in != nil && in.Managed })
	if in.Client == nil || in.Client.Name != "curl" || in.MCPURL != "http://127.0.0.1:1/mcp" || in.Port != f.port || in.State != monitor.StateProject {
		t.Errorf("%+v", in)
	}
	if n := len(withPID(w.Snapshot(), f.pid)); n != 1 {
		t.Errorf("%d instances", n)
	}
	got := events.of(f.pid)
	if len(got) != 2 || !strings.HasPrefix(got[0], "started by ") || !strings.HasPrefix(got[1], "project_activated") {
		t.Errorf("events %q", got)
	}
}

// A Serena is shown with its dashboard before that has been asked.
func TestLaunchedSerenaIsShownAtOnce(t *testing.T) {
	t.Parallel()
	f := startFake(t, answers{"project": "alpha"})
	l := New(Options{Rules: noRules{}}).begin(nil)
	now := time.Now()
	a := monitor.Launch{Server: identityOf(t, f.pid), Kind: monitor.KindSerena, Port: 1, DashboardPort: f.port, Project: "/home/u/alpha"}
	info, err := process.Read(f.pid)
	if err != nil {
		t.Fatal(err)
	}
	kind, cmd, _ := recognise(l.o.Rules, info)
	tr := l.newTracked(info, kind, cmd, now)
	tr.noteLaunch(a, info, now)
	in, shown := tr.instance(now)
	if !shown || in.State != monitor.StateStarting || in.Port != f.port || in.DashboardURL == "" || in.MCPURL != "http://127.0.0.1:1/mcp" || in.Label() != strconv.Itoa(f.pid)+" - alpha" {
		t.Errorf("%+v", in)
	}
	if !tr.isProbeDue(now, false) {
		t.Error("its dashboard is not asked")
	}
}

// Who asked for a server may end: it stays who asked, and the server is well.
func TestLaunchedForOneWhoEnds(t *testing.T) {
	t.Parallel()
	f := listens(t)
	l, ctx := looking(t)
	now := time.Now()
	l.applyLaunch(ctx, template(t, f), now)
	l.noteExit(curl.Identity, now)
	for range 5 {
		now = now.Add(burstEvery)
		l.tick(ctx, now)
	}
	in, shown := l.tracked[identityOf(t, f.pid)].instance(now)
	if !shown || in.State != monitor.StateLive || in.Client == nil || *in.Client != curl {
		t.Errorf("%+v", in)
	}
}

// One that has ended meanwhile, or whose pid is another's by now, is nothing.
func TestLaunchedThatHasEnded(t *testing.T) {
	t.Parallel()
	w, events := recording(t, Options{Rules: noRules{}})
	f, other := listens(t), listens(t)
	ended, another := template(t, f), template(t, other)
	f.signal(t, syscall.SIGKILL)
	f.cmd.Wait()
	another.Server.Start++
	w.Launched(ended)
	w.Launched(another)
	w.Launched(monitor.Launch{})
	late := listens(t)
	w.Launched(template(t, late))
	await(t, w, late.pid, "a later one", patience, func(in *monitor.Instance) bool { return in != nil })
	if s := w.Snapshot(); len(withPID(s, f.pid)) > 0 || len(withPID(s, other.pid)) > 0 {
		t.Errorf("%+v", s.Instances)
	}
	if n := len(events.of(f.pid)) + len(events.of(other.pid)); n > 0 {
		t.Errorf("%d events", n)
	}
}

// A panic ends a Serve, and the next one begins with what others have said.
func TestServeAfterAPanic(t *testing.T) {
	t.Parallel()
	f := listens(t)
	e := &told{}
	plans := 0
	w := New(Options{Rules: noRules{}, Record: e.record, Plan: func(*monitor.Snapshot) time.Time {
		if plans++; plans == 1 {
			panic("in the middle")
		}
		return time.Time{}
	}})
	w.Launched(template(t, f))
	w.enqueue(func(context.Context, *loop, time.Time) { panic("at the beginning") })
	w.SetWarnings([]string{"x"})
	for range 2 {
		func() {
			defer func() { _ = recover() }()
			t.Error("no panic: ", w.Serve(t.Context()))
		}()
	}
	serve(t, w)
	await(t, w, f.pid, "managed", patience, func(in *monitor.Instance) bool { return in != nil && in.Managed })
	if got := w.Snapshot().Warnings; !slices.Equal(got, []string{"x"}) {
		t.Errorf("warnings %q", got)
	}
	if got := e.of(f.pid); !slices.Equal(got, []string{"found asked for by curl"}) {
		t.Errorf("events %q", got)
	}
}

// Whatever order scan, launch and rules come in, there is one instance, it is
// managed from the launch on, and its begin is told once.
func TestLaunchedInAnyOrder(t *testing.T) {
	t.Parallel()
	f := listens(t)
	a := template(t, f)
	began := time.Now() // in each round it is as young, however long the rounds take
	rapid.Check(t, func(r *rapid.T) {
		l, ctx := looking(r)
		w := New(Options{})
		now := began
		before := &monitor.Snapshot{Seq: 1}
		launched, begun := false, 0
		r.Repeat(map[string]func(*rapid.T){
			"scan": func(*rapid.T) { l.tick(ctx, now) },
			"launch": func(*rapid.T) {
				launched = true
				l.applyLaunch(ctx, a, now)
			},
			"rules": func(r *rapid.T) {
				l.setRules(rapid.SampledFrom([]Rules{noRules{}, named("letterbox")}).Draw(r, "rules"), now)
			},
			"": func(r *rapid.T) {
				now = now.Add(time.Second)
				after := &monitor.Snapshot{Seq: before.Seq + 1, At: now, Instances: l.instances(now)}
				for _, e := range w.newEvents(l, before, after) {
					switch {
					case e.PID != f.pid:
					case e.Kind == monitor.EventStarted:
						begun++
					case e.Kind == monitor.EventForgotten && !launched:
						begun--
					default:
						r.Fatalf("event %+v", e)
					}
				}
				before = after
				found := withPID(after, f.pid)
				if len(found) > 1 || len(found) == 0 && launched || begun > 1 {
					r.Fatalf("%d instances, %d times begun", len(found), begun)
				}
				if launched && (!found[0].Managed || found[0].Kind != "mail" || !found[0].Recognised || found[0].Port != f.port || found[0].Client.Name != "curl") {
					r.Fatalf("%+v", found[0])
				}
			},
		})
	})
}
