//go:build real && linux

package process_test

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena/serenatest"
)

// The clients: each starts the command line that follows and holds its ends.
const (
	python = "import subprocess, sys, threading\n" +
		"p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n" +
		"threading.Event().wait()"
	node = "require('child_process').spawn(process.argv[1], process.argv.slice(2), {stdio: ['pipe', 'pipe', 'inherit']});" +
		"setInterval(() => {}, 1 << 30)"
)

func isLauncher(p process.Info) bool {
	return rules.IsLauncher(p.Exe, p.Args)
}

func identity(t *testing.T, pid int) monitor.Identity {
	t.Helper()
	s, err := process.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return s.Identity
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.Tick(5 * time.Millisecond); !cond(); <-tick {
		if time.Now().After(deadline) {
			t.Fatalf("still not true: %s", what)
		}
	}
}

// moved tells whether a server has the null device as its standard input, as the
// MCP SDK for Python arranges it.
func moved(t *testing.T, server monitor.Identity) bool {
	t.Helper()
	all, err := process.Descriptors(server)
	if err != nil {
		t.Fatal(err)
	}
	return len(all) > 0 && all[0].FD == 0 && all[0].File == "null"
}

// languageServers finds gopls below a server.
func languageServers(t *testing.T, server monitor.Identity) (pids []int) {
	t.Helper()
	tree, err := process.Tree(server)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree {
		if info, err := process.Read(p.PID); err == nil && info.Name == "gopls" {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// TestLinksOfRealServers kills clients in Python and node above a server that
// is suspended, and so cannot end by itself.
func TestLinksOfRealServers(t *testing.T) {
	// Whoever runs the tests may leave descriptors of his own in us, and node
	// hands them all down.
	if err := unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	py, js := []string{"python3", "-c", python}, []string{"node", "-e", node, "--"}
	for name, c := range map[string]struct {
		o        serenatest.Options
		language string // "", "alive" or "dead"
	}{
		"python":                         {serenatest.Options{Client: py}, ""},
		"python, a language server":      {serenatest.Options{Client: py, Project: "go"}, "alive"},
		"python, a dead language server": {serenatest.Options{Client: py, Project: "go"}, "dead"},
		"python through uvx":             {serenatest.Options{Client: py, UVX: true}, ""},
		"python, 1.7.0":                  {serenatest.Options{Client: py, Version: serenatest.Version17}, ""},
		"python, 1.5.3":                  {serenatest.Options{Client: py, Version: serenatest.Version15}, ""},
		"node":                           {serenatest.Options{Client: js}, ""},
		"node, a language server":        {serenatest.Options{Client: js, Project: "go"}, "alive"},
		"node through uvx":               {serenatest.Options{Client: js, UVX: true}, ""},
		"node, 1.5.3":                    {serenatest.Options{Client: js, Version: serenatest.Version15}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.o.Project != "" {
				c.o.Project = serenatest.GoProject(t, "alpha")
			}
			s := serenatest.Start(t, c.o)
			s.WaitReady(t)
			server, client := identity(t, s.ServerPID), identity(t, s.PID)
			if c.language != "" {
				until(t, "gopls runs", func() bool { return len(languageServers(t, server)) > 0 })
			}

			// A server whose dashboard answers may not have moved its ends away yet,
			// and while it does, no input and output of it belong together.
			until(t, "its ends are where they stay", func() bool {
				_, _, ok, err := process.FindHolder(server, client)
				return err == nil && ok && (c.o.Version != "" || moved(t, server)) // older ones leave them
			})
			info, err := process.Read(server.PID)
			if err != nil {
				t.Fatal(err)
			}
			root, above, err := process.Wrappers(info, isLauncher)
			if err != nil || above == nil || above.Identity != client {
				t.Errorf("client %+v, %v, want %v", above, err, client)
			}
			if (root != server) != c.o.UVX {
				t.Errorf("root %v of server %v", root, server)
			}
			if holder, _, ok, err := process.FindHolder(server, root); !ok || err != nil || holder.Identity != client {
				t.Errorf("from its wrapper up: %+v, %v", holder, err)
			}
			holder, link, ok, err := process.FindHolder(server, client)
			if !ok || err != nil || holder.Identity != client {
				t.Fatalf("no link: %+v, %v", holder, err)
			}
			check := func(when string, want bool) {
				t.Helper()
				closed, err := link.Closed(server)
				alone, err2 := process.Abandoned(server)
				if closed != want || alone != want || err != nil || err2 != nil {
					t.Errorf("%s: closed %v, %v; abandoned %v, %v", when, closed, err, alone, err2)
				}
			}
			check("at work", false)
			s.Signal(t, syscall.SIGSTOP)
			if c.language == "dead" {
				for _, pid := range languageServers(t, server) {
					if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
				}
				until(t, "gopls has ended", func() bool {
					for _, pid := range languageServers(t, server) {
						if s, err := process.ReadStat(pid); err == nil && s.State != process.Unreaped {
							return false
						}
					}
					return true
				})
				check("its language server is dead", false)
			}
			if err := syscall.Kill(client.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			// What a killed language server has started, the go command for one,
			// holds its ends a while longer.
			until(t, "the link is closed and nobody is left", func() bool {
				closed, err := link.Closed(server)
				alone, err2 := process.Abandoned(server)
				return closed && alone && err == nil && err2 == nil
			})
			check("its client is dead", true)
		})
	}
}

// TestLinksOfOtherServers asks about the reference servers, which this test is
// the client of.
func TestLinksOfOtherServers(t *testing.T) {
	for name, command := range map[string][]string{
		"npx": serenatest.Filesystem(t, t.TempDir()),
		"uvx": serenatest.Time(t),
	} {
		t.Run(name, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{Command: command})
			s.Initialize(t)
			server, me := identity(t, s.ServerPID), identity(t, os.Getpid())
			holder, link, ok, err := process.FindHolder(server, me)
			if !ok || err != nil || holder.Identity != me {
				t.Fatalf("no link: %+v, %v", holder, err)
			}
			if closed, err := link.Closed(server); closed || err != nil {
				t.Errorf("closed: %v, %v", closed, err)
			}
			info, err := process.Read(server.PID)
			if err != nil {
				t.Fatal(err)
			}
			root, client, err := process.Wrappers(info, isLauncher)
			if err != nil || root.PID != s.PID || client == nil || client.Identity != me {
				t.Errorf("root %v, want %d; client %+v, %v", root, s.PID, client, err)
			}
			above, err := process.Ancestors(server.PID)
			if err != nil || !slices.Contains(above, me) || !slices.Contains(above, root) {
				t.Errorf("%v, %v", above, err)
			}
		})
	}
}

// TestWrappersOfAListeningServer: through uvx, over HTTP.
func TestWrappersOfAListeningServer(t *testing.T) {
	s := serenatest.Start(t, serenatest.Options{HTTP: true, UVX: true})
	s.WaitReady(t)
	info, err := process.Read(s.ServerPID)
	if err != nil {
		t.Fatal(err)
	}
	root, client, err := process.Wrappers(info, isLauncher)
	if err != nil || root.PID != s.PID || client == nil || client.PID != os.Getpid() {
		t.Errorf("root %v, want %d; client %+v, %v", root, s.PID, client, err)
	}
	if _, l, ok, err := process.FindHolder(info.Identity, identity(t, os.Getpid())); ok || err != nil {
		t.Errorf("%+v, %v", l, err)
	}
	// WaitReady may have asked a moment ago.
	for deadline := time.After(time.Minute); ; {
		connections, err := process.Connections(s.DashboardPort)
		if err == nil && len(connections) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%v, %v", connections, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
