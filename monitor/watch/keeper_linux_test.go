package watch

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
)

// keeperOf starts a line below a program that is a keeper by its name and its
// arguments: a shell under its name, which reads the script that is called like
// the mode. more are the shell lines it runs beside. The real keeper is tested by
// app/connect and, with the watch, in app.
func keeperOf(t *testing.T, a answers, more string, line ...string) *fake {
	t.Helper()
	keeper := programtest.Shell(t, "lamplighter-connect", "keep", "while [ \"$1\" != -- ]; do shift; done; shift\n"+more+"\n\"$@\" &\nwait\n")
	dir := filepath.Dir(keeper)
	return startCommand(t, a, &exec.Cmd{
		Path: keeper, Dir: dir,
		Args: append([]string{"lamplighter-connect", "keep", "--lifetime", "session", "--dir", dir, "--alive", filepath.Join(dir, "alive.lock"), "--"}, line...),
	})
}

// serenaLine is a fake Serena that prints its port.
func serenaLine(t *testing.T) []string {
	t.Helper()
	script, err := filepath.Abs("testdata/bin/serena")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"python3", "-Su", script, "start-mcp-server", "--transport", "streamable-http", "--context", "ide"}
}

// What is below a keeper of ours is managed from the first look on. That it
// began is told when it is known who asked.
func TestBelowAKeeper(t *testing.T) {
	for name, c := range map[string]struct {
		more    string   // what the keeper has besides
		wrapper []string // between it and the server
	}{
		"plain":                {},
		"wrapped":              {wrapper: []string{"sh", "-c", `"$0" "$@"; exit $?`}},
		"a child besides":      {more: "sleep 600 &"},
		"a child, and wrapped": {more: "sleep 600 &", wrapper: []string{"sh", "-c", `"$0" "$@"; exit $?`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, events := recording(t, Options{})
			f := keeperOf(t, answers{"project": "alpha"}, c.more, append(slices.Clone(c.wrapper), serenaLine(t)...)...)
			keeper := identityOf(t, f.pid)
			in := awaitAt(t, w, f.port, "found", func(in *monitor.Instance) bool { return in.State == monitor.StateProject })
			if !in.Managed || in.Client != nil || in.Keeper != keeper {
				t.Errorf("%+v", in)
			}
			if got := events.of(in.Identity.PID); len(got) > 0 {
				t.Errorf("events %q before it is known who asked", got)
			}
			w.Launched(monitor.Launch{Server: in.Identity, Keeper: keeper, Kind: monitor.KindSerena, Port: 1, DashboardPort: f.port, AskedBy: &curl})
			in = awaitAt(t, w, f.port, "who asked", func(in *monitor.Instance) bool { return in.Client != nil })
			if in.Client.Name != "curl" || in.Keeper != keeper || in.MCPURL != "http://127.0.0.1:1/mcp" {
				t.Errorf("%+v", in)
			}
			got := events.of(in.Identity.PID)
			if len(got) != 2 || got[0] != "started asked for by curl" || !strings.HasPrefix(got[1], "project_activated") {
				t.Errorf("events %q", got)
			}
			same := slices.DeleteFunc(slices.Clone(w.Snapshot().Instances), func(in *monitor.Instance) bool { return in.Keeper != keeper })
			if len(same) != 1 {
				t.Errorf("%d instances of one server: %+v", len(same), same)
			}
			syscall.Kill(-f.pid, syscall.SIGKILL)
			waitFor(t, "gone", func() bool { return w.Snapshot().Instance(in.Identity) == nil })
		})
	}
}

// One that ends before it was told of has its begin told all the same.
func TestBelowAKeeperAndNeverTold(t *testing.T) {
	t.Parallel()
	w, events := recording(t, Options{})
	f := keeperOf(t, answers{}, "", serenaLine(t)...)
	in := awaitAt(t, w, f.port, "found", func(in *monitor.Instance) bool { return in.State == monitor.StateNoProject })
	syscall.Kill(-f.pid, syscall.SIGKILL)
	f.cmd.Wait()
	waitFor(t, "begin and end are told", func() bool {
		got := events.of(in.Identity.PID)
		return len(got) == 2 && got[0] == "started" && strings.HasPrefix(got[1], "stopped")
	})
}

// A keeper that another background process has left is nobody's client, and
// nobody is waited for.
func TestBelowAKeeperThatWasLeft(t *testing.T) {
	t.Parallel()
	f := keeperOf(t, answers{}, "", serenaLine(t)...)
	children, err := process.Children(f.pid)
	if err != nil || len(children) != 1 {
		t.Fatal(children, err)
	}
	server, err := process.Read(children[0])
	if err != nil {
		t.Fatal(err)
	}
	l := New(Options{Rules: noRules{}}).begin(nil)
	for _, ours := range []bool{true, false} {
		if !ours {
			l.self = monitor.Identity{PID: 1 << 30, Start: 1}
		}
		l.discover([]process.Info{server}, time.Now())
		tr := l.tracked[server.Identity]
		if tr == nil || !tr.in.Managed || tr.in.Client != nil || tr.awaited != ours || tr.root.PID != f.pid {
			t.Errorf("started by us: %v: %+v", ours, tr)
		}
		clear(l.tracked)
	}
}

// A program that is no keeper, whatever it is called, is the client of what it
// has started.
func TestBelowAProgramThatIsNoKeeper(t *testing.T) {
	t.Parallel()
	path := programtest.Copy(t, "/bin/sh", "lamplighter-connect")
	f := startLine(t, answers{}, append([]string{path, "-c", `shift; "$@"; exit $?`, "keep", "--"}, serenaLine(t)...))
	children, err := process.Children(f.pid)
	if err != nil || len(children) != 1 {
		t.Fatal(children, err)
	}
	server, err := process.Read(children[0])
	if err != nil {
		t.Fatal(err)
	}
	l := New(Options{Rules: noRules{}}).begin(nil)
	l.discover([]process.Info{server}, time.Now())
	tr := l.tracked[server.Identity]
	if tr == nil || tr.in.Managed || tr.in.Client == nil || tr.in.Client.PID != f.pid || tr.root != server.Identity {
		t.Errorf("%+v", tr)
	}
}
