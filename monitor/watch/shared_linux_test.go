package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/view"
)

// A shared server keeps its place while it is parked: the end of its process is
// no end of it, until its last client leaves.
func TestParkedKeepsItsPlace(t *testing.T) {
	t.Parallel()
	w, events := recording(t, Options{Rules: noRules{}})
	f := listens(t)
	a := template(t, f)
	a.Lifetime = monitor.LifetimeShared
	s := monitor.Shared{Server: a.Server, Key: "a", Kind: a.Kind, Project: a.Project, Clients: []monitor.Client{claude, codex}}
	w.Launched(a)
	w.SetShared([]monitor.Shared{s})
	await(t, w, f.pid, "shared", patience, func(in *monitor.Instance) bool {
		return in != nil && in.State == monitor.StateLive && in.IsShared() && *in.Client == claude && view.Of(in).Who(20) == "2 clients"
	})
	f.signal(t, syscall.SIGKILL)
	f.cmd.Wait()
	in := await(t, w, f.pid, "without a process", patience, inState(monitor.StateParked, ""))
	if in.Reason != endedReason || in.Identity != a.Server || in.Label() != "parked - mail" {
		t.Errorf("%+v", in)
	}
	s.Parked, s.Reason = true, "its process was killed"
	w.Record(monitor.Event{At: time.Now(), Kind: monitor.EventParked, ID: a.Server.String(), PID: f.pid, Detail: "as who keeps it says"})
	w.SetShared([]monitor.Shared{s})
	await(t, w, f.pid, "parked", patience, func(in *monitor.Instance) bool {
		return in != nil && in.Reason == "its process was killed; wakes at the next request"
	})
	again := listens(t)
	b := template(t, again)
	b.Lifetime = monitor.LifetimeShared
	w.Launched(b)
	s.Parked, s.Server = false, b.Server
	w.SetShared([]monitor.Shared{s})
	await(t, w, f.pid, "woken", patience, gone)
	await(t, w, again.pid, "under another process", patience, func(in *monitor.Instance) bool { return in != nil && in.IsShared() })
	w.SetShared(nil)
	await(t, w, again.pid, "nobody's", patience, func(in *monitor.Instance) bool { return in != nil && in.Sharing == nil })
	if got := events.of(f.pid); len(got) != 2 || !strings.HasPrefix(got[0], "started ") || !strings.HasPrefix(got[1], "parked") {
		t.Errorf("events %q", got)
	}
}

// shimOf starts a line below a program that is our shim by its name and its
// arguments, in its place as the real one does; beside is what it runs besides.
func shimOf(t *testing.T, beside string, line ...string) (f *fake, server monitor.Identity) {
	t.Helper()
	shim := programtest.Shell(t, "lamplighter-connect", "connect", "while [ \"$1\" != -- ]; do shift; done; shift\n"+beside+"\n\"$@\"\nexit $?\n")
	dir := filepath.Dir(shim)
	f = startCommand(t, answers{"project": "alpha"}, &exec.Cmd{
		Path: shim, Dir: dir,
		Args: append([]string{"lamplighter-connect", "connect", "--socket", filepath.Join(dir, "share.sock"), "--"}, line...),
	})
	children, err := process.Children(f.pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range children {
		if info, err := process.Read(pid); err == nil && strings.HasPrefix(info.Name, "python") {
			server = info.Identity
		}
	}
	if server.PID == 0 {
		t.Fatalf("no server among %v", children)
	}
	return f, server
}

// A server below the shim has it in its tree, and its client is whoever runs the
// shim, which is never taken for a server itself.
func TestBelowAShim(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]string{"alone": "", "beside another child": "sleep 600 </dev/null >/dev/null &"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watching(t)
			f, server := shimOf(t, beside, append(serenaLine(t), "--project", "/w/alpha")...)
			in := await(t, w, server.PID, "found", patience, inState(monitor.StateProject, ""))
			if in.Client == nil || in.Client.PID != os.Getpid() || in.Managed || in.Sharing != nil {
				t.Errorf("%+v, client %+v", in, in.Client)
			}
			wrapped := in.Processes == 2
			if wrapped != (beside == "") {
				t.Errorf("%d processes", in.Processes)
			}
			w.SetShared([]monitor.Shared{{Server: server, Alone: "it is over stdio", Clients: []monitor.Client{codex}}})
			in = await(t, w, server.PID, "told why", patience, func(in *monitor.Instance) bool { return in != nil && in.Sharing != nil })
			if in.Sharing.Alone != "it is over stdio" || in.IsShared() || in.Client.PID != os.Getpid() {
				t.Errorf("%+v", in)
			}
			for _, other := range w.Snapshot().Instances {
				if other.Identity.PID == f.pid {
					t.Errorf("the shim is a server: %+v", other)
				}
			}
		})
	}
}

// A server below a shim that no rule knows is shown by the word of the shim until
// it ends, also when its client has gone before.
func TestStrangerBelowAShim(t *testing.T) {
	t.Parallel()
	w, events := recording(t, Options{Rules: noRules{}})
	f, server := shimOf(t, "", "python3", "-Su", script(t, "print(0, flush=True)\nthreading.Event().wait()\n"))
	us := monitor.Client{Identity: identityOf(t, os.Getpid()), Name: "Codex"}
	s := monitor.Shared{Server: server, Kind: "letterbox.py", Alone: "it is not a Serena", Clients: []monitor.Client{us}}
	above := s
	above.Server = us.Identity // no client has itself, or what is above it, for a server
	w.SetShared([]monitor.Shared{above, s})
	in := await(t, w, server.PID, "shown", patience, func(in *monitor.Instance) bool { return in != nil && in.RSSBytes > 0 })
	if in.State != monitor.StateLive || in.Name() != "letterbox.py" || in.Recognised || in.Managed || in.IsShared() || in.Sharing.Alone != s.Alone ||
		len(in.Sharing.Clients) != 1 || in.Client == nil || in.Client.PID != os.Getpid() || in.Processes != 2 {
		t.Errorf("%+v, sharing %+v, client %+v", in, in.Sharing, in.Client)
	}
	for _, other := range w.Snapshot().Instances {
		if other.Identity == above.Server || other.Identity.PID == f.pid {
			t.Errorf("%+v is shown", other)
		}
	}
	w.SetRules(noRules{})
	w.SetShared(nil)
	in = await(t, w, server.PID, "without its client", patience, func(in *monitor.Instance) bool { return in != nil && len(in.Sharing.Clients) == 0 })
	if in.Sharing.Alone != s.Alone || in.Name() != "letterbox.py" {
		t.Errorf("%+v", in)
	}
	syscall.Kill(server.PID, syscall.SIGKILL)
	await(t, w, server.PID, "ended", patience, gone)
	if got := events.of(server.PID); len(got) != 2 || !strings.HasPrefix(got[0], "started ") || !strings.HasPrefix(got[1], "stopped ") {
		t.Errorf("events %q", got)
	}
}

// What a launcher starts is the server, and until then nothing is; where no rule
// knows that either, the launcher is shown.
func TestLauncherBelowAShim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line  []string
		rules Rules
		since time.Duration
		want  int // of launcher and server
	}{
		"a known server":          {[]string{"sh", "-c", `"$@"`, "sh"}, letterbox{}, 0, 2},
		"late":                    {[]string{"sh", "-c", `"$@"`, "sh"}, letterbox{}, time.Hour, 2},
		"unknown":                 {[]string{"timeout", "600"}, noRules{}, 0, 0},
		"unknown for long enough": {[]string{"timeout", "600"}, noRules{}, time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startLine(t, answers{}, append(c.line, "python3", "-Su", script(t, "print(0, flush=True)\nthreading.Event().wait()\n")))
			children, err := process.Children(f.pid)
			if err != nil {
				t.Fatal(err)
			}
			l := New(Options{Rules: c.rules}).begin(nil)
			now := time.Now()
			l.shared = []monitor.Shared{{Server: identityOf(t, f.pid), Kind: "run.sh", Alone: "it is not a Serena", Since: now.Add(-c.since)}}
			l.trackDedicatedServers(now) // before anything has been looked at
			l.announced = map[monitor.Identity]*monitor.Instance{identityOf(t, f.pid): {}}
			l.tick(t.Context(), now)
			l.trackDedicatedServers(now)
			shown := 0
			for _, in := range l.instances(now) {
				switch {
				case in.Identity.PID == f.pid:
					shown = 1
				case len(children) == 1 && in.Identity.PID == children[0]:
					shown = 2
				}
			}
			if shown != c.want {
				t.Errorf("%d is shown, of %d and %v", shown, f.pid, children)
			}
			if _, told := l.announced[identityOf(t, f.pid)]; told == (c.want == 2 && c.since > 0) {
				t.Errorf("it is to be told of: %v", l.announced)
			}
		})
	}
}
