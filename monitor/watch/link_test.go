//go:build linux

package watch

import (
	"context"
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
)

// script writes a Python program that the rule named "letterbox" recognises.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "letterbox.py")
	if err := os.WriteFile(path, []byte("import os, signal, socket, sys, threading, time\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A server that somebody listens to, or could, is never called left.
func TestServersWhoseClientEnds(t *testing.T) {
	const forever = "threading.Event().wait()\n"
	listening := func(family, address string) string {
		return "s = socket.socket(socket." + family + ")\ns.bind(('" + address + "', 0))\ns.listen()\nprint(s.getsockname()[1], flush=True)\n" + forever
	}
	for name, c := range map[string]struct {
		text  string
		late  bool // the watch begins when the client has gone
		shell bool // the client starts it by a script of its own
		want  monitor.Cause
	}{
		"reads no more":                     {text: "print(0, flush=True)\n" + forever, want: monitor.CauseOrphaned},
		"reads no more, seen late":          {text: "print(0, flush=True)\n" + forever, late: true, want: monitor.CauseSuspected},
		"closes its ends and hangs":         {text: "print(0, flush=True)\nsys.stdin.read()\nos.close(0)\nos.close(1)\n" + forever, want: monitor.CauseOrphaned},
		"started by a script":               {text: "print(0, flush=True)\n" + forever, shell: true, want: monitor.CauseOrphaned},
		"listens":                           {text: listening("AF_INET", "127.0.0.1"), want: monitor.CauseNone},
		"listens, seen late":                {text: listening("AF_INET", "127.0.0.1"), late: true, want: monitor.CauseNone},
		"listens on another address":        {text: listening("AF_INET", "127.0.0.5"), want: monitor.CauseNone},
		"listens on IPv6":                   {text: listening("AF_INET6", "::1"), want: monitor.CauseNone},
		"its child listens":                 {text: "if os.fork() == 0:\n  s = socket.create_server(('127.0.0.1', 0))\n  print(s.getsockname()[1], flush=True)\n  " + forever + forever, want: monitor.CauseNone},
		"listens on a unix socket":          {text: "s = socket.socket(socket.AF_UNIX)\ns.bind('\\0doors-%d' % os.getpid())\ns.listen()\nprint(0, flush=True)\n" + forever, want: monitor.CauseSuspected},
		"its child listens on one":          {text: "s = socket.socket(socket.AF_UNIX)\ns.bind('\\0doors-%d' % os.getpid())\ns.listen()\nif os.fork() == 0:\n  print(0, flush=True)\n  " + forever + "s.close()\n" + forever, want: monitor.CauseSuspected},
		"listened for a moment, for a code": {text: "s = socket.create_server(('127.0.0.1', 0))\nsignal.signal(signal.SIGUSR1, lambda *a: s.close())\nprint(s.getsockname()[1], flush=True)\nwhile True: time.sleep(60)\n", want: monitor.CauseOrphaned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := []string{"python3", "-Su", script(t, c.text)}
			if c.shell { // whose pid the client tells
				start := filepath.Join(t.TempDir(), "run.sh")
				if err := programtest.WriteFile(start, []byte("#!/bin/sh\nexport X=1\n"+strings.Join(line, " ")+"\nexit\n"), 0o700); err != nil {
					t.Fatal(err)
				}
				line = []string{start}
			}
			client, f := clientOf(t, answers{}, append([]string{"python3", "-S", "testdata/bin/client.py"}, line...)...)
			leave := func() {
				client.Process.Kill()
				client.Wait()
			}
			if c.late {
				leave()
			}
			ctx, cancel := context.WithCancel(t.Context())
			l := New(Options{Rules: letterbox{}}).begin(process.NewExitWatch())
			defer l.probes.Wait()
			defer cancel()
			now := time.Now()
			tick := func() {
				l.tick(ctx, now)
				now = now.Add(burstEvery)
			}
			tick()
			tick()
			server := tracking(t, l, f.pid, client.Process.Pid)
			if !c.late {
				if server.in.Client == nil || server.in.Client.PID != client.Process.Pid {
					t.Fatalf("its client is %d, not %+v", client.Process.Pid, server.in.Client)
				}
				if f.port > 0 && server.in.Port != f.port && !strings.Contains(name, "another") && !strings.Contains(name, "child") {
					t.Errorf("port %d, want %d", server.in.Port, f.port)
				}
				if strings.Contains(name, "moment") {
					syscall.Kill(server.in.Identity.PID, syscall.SIGUSR1)
					waitFor(t, "the port is closed", func() bool { tick(); return server.in.Port == 0 })
				}
				leave()
				l.noteExit(server.in.Client.Identity, now)
			}
			waitFor(t, "what is left of it", func() bool {
				tick()
				in, shown := server.instance(now)
				return shown && in.Cause == c.want && now.Sub(server.Born) > 10*time.Minute
			})
		})
	}
}

// letterbox recognises the programs of script.
type letterbox struct{}

func (letterbox) Hides(string, []string) bool { return false }

func (letterbox) Match(_ string, args []string) (string, bool) {
	return "letterbox", len(args) == 3 && args[1] == "-Su" && filepath.Base(args[2]) == "letterbox.py"
}

// gateway recognises a server that starts another one, as well.
type gateway struct{}

func (gateway) Hides(string, []string) bool { return false }

func (gateway) Match(exe string, args []string) (string, bool) {
	if len(args) > 2 && args[2] == "testdata/bin/client.py" {
		return "gateway", true
	}
	return letterbox{}.Match(exe, args)
}

// A client may be a server itself: that nobody knows it as one any more does
// not end the watch for its end.
func TestClientThatWasAServer(t *testing.T) {
	t.Parallel()
	w := New(Options{Rules: gateway{}})
	serve(t, w)
	cmd, f := clientOf(t, answers{}, "python3", "-Su", "testdata/bin/client.py", "python3", "-Su", script(t, "print(0, flush=True)\nthreading.Event().wait()\n"))
	await(t, w, cmd.Process.Pid, "the gateway", patience, inState(monitor.StateLive, ""))
	await(t, w, f.pid, "its server", patience, inState(monitor.StateLive, ""))
	w.SetRules(letterbox{})
	await(t, w, cmd.Process.Pid, "the gateway is no server any more", patience, gone)
	cmd.Process.Kill()
	cmd.Wait()
	await(t, w, f.pid, "orphaned", patience, func(in *monitor.Instance) bool { return in != nil && in.Evidence.Orphaned && in.Evidence.ClientGone })
}

// A word about another user's process, or about somebody else's port, is no
// news.
func TestHintsThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	other := startFake(t, answers{"project": "beta"})
	mute := filepath.Join(t.TempDir(), "serena")
	if err := os.WriteFile(mute, []byte("import time\nprint(0, flush=True)\ntime.sleep(600)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := startLine(t, answers{}, []string{"python3", "-Su", mute, "start-mcp-server"})
	l := New(Options{Rules: noRules{}}).begin(nil)
	l.applyHint(t.Context(), f.pid, other.port, time.Now())
	if l.findByMember(identityOf(t, f.pid)) != nil {
		t.Error("a lie about its port makes it known")
	}
	l.applyHint(t.Context(), f.pid, 0, time.Now())
	server := l.findByMember(identityOf(t, f.pid))
	if server == nil {
		t.Fatal("the truth does not")
	}
	l.applyHint(t.Context(), f.pid, other.port, time.Now())
	if len(server.candidates) > 0 {
		t.Errorf("another's port is asked: %+v", server.candidates)
	}
	if os.Getuid() == 0 {
		stranger := serenaOf(t, 4242)
		l.applyHint(t.Context(), stranger, 0, time.Now())
		if l.findByMember(identityOf(t, stranger)) != nil {
			t.Error("another user's server is taken in")
		}
		mine := serenaOf(t, 0)
		l.applyHint(t.Context(), mine, 0, time.Now())
		if l.findByMember(identityOf(t, mine)) == nil {
			t.Error("and our own is not")
		}
	}
}

// serenaOf starts a program with Serena's command line for a user: a shell
// under its name, which reads the script that is called like the verb.
func serenaOf(t *testing.T, uid uint32) (pid int) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "serena") // one that others may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"serena": shell, "start-mcp-server": []byte("read x\n")} {
		if err := programtest.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: filepath.Join(dir, "serena"), Args: []string{"serena", "start-mcp-server"}, Dir: dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, NoSetGroups: true}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	waitFor(t, "the program runs", func() bool {
		info, err := process.Read(cmd.Process.Pid)
		return err == nil && len(info.Args) == 2
	})
	return cmd.Process.Pid
}

// ends are watched processes.
type ends struct {
	exits
	of map[monitor.Identity]bool
}

func (e ends) Watch(id monitor.Identity) error { e.of[id] = true; return nil }
func (e ends) Forget(id monitor.Identity)      { delete(e.of, id) }

// A client is watched, which costs a descriptor, while it has a server.
func TestClientIsWatchedAsLongAsItsServers(t *testing.T) {
	t.Parallel()
	l, _ := looking(t)
	watched := ends{of: map[monitor.Identity]bool{}}
	l.exits = watched
	client := monitor.Client{Identity: monitor.Identity{PID: 1<<30 + 9, Start: 1}}
	first, second := known(), known()
	second.in.Identity.PID++
	for _, tr := range []*tracked{first, second} {
		tr.in.Client, tr.members = &client, nil
		l.tracked[tr.in.Identity] = tr
	}
	l.watchExits(start)
	l.untrack(first)
	if l.watchExits(start); !watched.of[client.Identity] || len(watched.of) != 2 {
		t.Error("while it has one: ", watched.of)
	}
	l.untrack(second)
	if l.watchExits(start); len(watched.of) != 0 {
		t.Error("while it has none: ", watched.of)
	}
}
