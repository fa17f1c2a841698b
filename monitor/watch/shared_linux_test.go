package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
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
		return in != nil && in.State == monitor.StateNoProject && in.IsShared() && *in.Client == claude && in.ClientWords(20) == "2 clients"
	})
	f.signal(t, syscall.SIGKILL)
	f.cmd.Wait()
	in := await(t, w, f.pid, "without a process", patience, inState(monitor.StateParked, ""))
	if in.Reason != endedReason || in.Identity != a.Server || in.Label() != "parked - mail" {
		t.Errorf("%+v", in)
	}
	s.Parked, s.Reason = true, "its process was killed"
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
	if got := events.of(f.pid); len(got) != 1 || !strings.HasPrefix(got[0], "started ") {
		t.Errorf("events %q", got)
	}
}

// shimOf starts a line below a program that is our shim by its name and its
// arguments, in its place as the real one does; beside is what it runs besides.
func shimOf(t *testing.T, beside string, line ...string) (f *fake, server monitor.Identity) {
	t.Helper()
	dir := t.TempDir()
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	script := "while [ \"$1\" != -- ]; do shift; done; shift\n" + beside + "\n\"$@\"\nexit $?\n"
	for name, text := range map[string][]byte{"lamplighter-connect": shell, "connect": []byte(script)} {
		if err := programtest.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f = &fake{answers: filepath.Join(dir, "answers.json")}
	f.say(t, answers{"project": "alpha"})
	f.cmd = &exec.Cmd{
		Path: filepath.Join(dir, "lamplighter-connect"), Dir: dir, Env: append(os.Environ(), "FAKE_ANSWERS="+f.answers),
		Args: append([]string{"lamplighter-connect", "connect", "--socket", filepath.Join(dir, "share.sock"), "--"}, line...),
	}
	if f.port, err = strconv.Atoi(f.start(t)); err != nil {
		t.Fatal(err)
	}
	f.pid = f.cmd.Process.Pid
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
