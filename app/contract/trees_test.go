//go:build contract && linux

package contract

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// alive reports whether a process runs. What has ended and only waits for its
// parent does not.
func alive(pid int) bool {
	_, state, _ := strings.Cut(read(fmt.Sprintf("/proc/%d/stat", pid)), ") ")
	return state != "" && state[0] != 'Z' && state[0] != 'X'
}

// treeOf is a process and all below it.
func treeOf(pid int) []int {
	tree := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, list := range lists {
		for _, field := range strings.Fields(read(list)) {
			child, _ := strconv.Atoi(field)
			tree = append(tree, treeOf(child)...)
		}
	}
	return tree
}

// processesOf are the living processes whose command line has all of these.
func processesOf(words ...string) (found []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range lines {
		line := "\x00" + read(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if alive(pid) && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			found = append(found, pid)
		}
	}
	return found
}

// servers are the stand-ins of Serena that run for a project, without what
// keeps them and those who only name them.
func servers(project string) []int {
	return slices.DeleteFunc(processesOf("\x00start-mcp-server\x00", "\x00--project\x00"+project+"\x00"), func(pid int) bool {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // it may have ended
		return filepath.Base(exe) != serena
	})
}

// only is the one server of a project.
func only(t testing.TB, project string) int {
	t.Helper()
	pids := servers(project)
	if len(pids) != 1 {
		t.Fatalf("the servers of %s are %v", project, pids)
	}
	return pids[0]
}

// gone waits until all of these processes have ended.
func gone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		apptest.Eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
	}
}

// living checks whether all of these processes run.
func living(t testing.TB, want bool, when string, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		check(t, alive(pid) == want, "%s: process %d of %d runs: %v", when, pid, pids, !want)
	}
}

// startTree starts a command that ends in a server on the project of that name,
// and waits until the daemon of this world knows it.
func (w *world) startTree(t *testing.T, change func(*exec.Cmd), name string, line ...string) (root *process, pid int) {
	t.Helper()
	root = w.start(t, change, line...)
	return root, int(w.is(t, "live_with_project", "project_name", name)["pid"].(float64))
}

// connectTo holds a connection to the MCP port of a server, as its client does.
func connectTo(t *testing.T, p *process) {
	t.Helper()
	apptest.Eventually(t, "the server listens", func() bool {
		_, rest, _ := strings.Cut(p.err.String(), "running on http://")
		address, _, _ := strings.Cut(rest, " ")
		conn, err := net.Dial("tcp", address)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		return err == nil
	})
}

// Real trees that end, all of them, and nothing before it is meant.
func TestStopEndsATree(t *testing.T) {
	launcher, client := home.path("above", launcherName), home.path("above", clientName)
	for _, row := range []struct {
		name, habits string
		above        []string
		ends, stays  int // processes
	}{
		{"plain", "", nil, 1, 0},
		{"stubborn", "stubborn child", nil, 2, 0},
		{"launched", "", []string{launcher}, 2, 0},
		{"attended", "child", []string{client, launcher}, 3, 1}, // the client itself stays
	} {
		t.Run(row.name, func(t *testing.T) {
			root, pid := home.startTree(t, nil, row.name, append(row.above, home.httpServer(home.project(t, row.name, row.habits))...)...)
			in := instance(pid)
			tab, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%v", in["port"])) // of a browser, which is no use of a server
			must(t, err)
			defer tab.Close()
			all := treeOf(root.pid())
			if len(all) != row.stays+row.ends {
				t.Fatalf("the tree is %d", all)
			}
			stays, tree := all[:row.stays], all[row.stays:]
			for _, by := range []any{pid, in["port"], in["id"], row.name} {
				apptest.Contains(t, home.does(t, fine, "stop", fmt.Sprint(by), "--dry-run", "--json"), fmt.Sprint(in["id"]))
			}
			living(t, true, "after a dry run", all...)
			home.does(t, fine, "stop", row.name)
			living(t, false, "after stop", tree...) // it comes back when all have ended
			living(t, true, "after stop", stays...)
		})
	}
}

// Real processes that nobody may end so: without force, or at all.
func TestStopRefuses(t *testing.T) {
	start := func(name string, habits ...string) (*process, int) {
		return home.startTree(t, nil, name, home.httpServer(home.project(t, name, habits...))...)
	}
	_, busy := start("busy", "busy")
	server, used := start("used")
	connectTo(t, server)
	_, pinned := start("pinned")
	home.does(t, fine, "pin", "pinned")
	// What only has the words of a server is none: by its arguments, by its
	// name, by its directory.
	editor := home.start(t, nil, "/bin/sh", "-c", "read line; :", home.path("bin", serena), "start-mcp-server", "--project", alpha.project)
	sleep := home.start(t, func(c *exec.Cmd) { c.Args[0] = "serena" }, "/bin/sleep", "1000")
	for _, row := range []struct {
		name   string
		pid    int
		forced int // the exit status with --force
	}{
		{"a call runs", busy, fine},
		{"somebody is connected to its MCP port", used, fine},
		{"pinned", pinned, fine},
		{"the daemon itself", home.daemon.pid(), failed},
		{"a shell with its words", editor.pid(), failed},
		{"another program with its name", sleep.pid(), failed},
		{"this test", os.Getpid(), failed},
	} {
		pid := strconv.Itoa(row.pid)
		home.does(t, failed, "stop", pid, "--dry-run")
		home.does(t, failed, "stop", pid)
		home.does(t, row.forced, "stop", pid, "--force", "--dry-run")
		if row.forced == failed {
			home.does(t, failed, "stop", pid, "--force")
		}
		living(t, true, row.name, row.pid)
		same(t, row.name+": it is in the list of servers", instance(row.pid) != nil, row.forced == fine)
	}
	home.does(t, fine, "stop", "used", "--force")
	living(t, false, "with force", used)
}

// A server above the one that orders its end is not ended, nor is another
// user's.
func TestStopKeepsWhatIsNotOurs(t *testing.T) {
	project := home.project(t, "above", "orders")
	outcome := filepath.Join(project, "outcome")
	write(t, filepath.Join(project, "orders"), fmt.Sprintf("%s stop $PPID --force\necho $? >%s\n", lamplighter()[0], outcome))
	w := another(t, "") // without a daemon it is the verb that ends what it is told to
	_, pid := home.startTree(t, func(c *exec.Cmd) { c.Env = w.env }, "above", home.httpServer(project)...)
	apptest.Eventually(t, "the order comes to an end", func() bool { return read(outcome) != "" })
	same(t, "its exit status", read(outcome), "1\n")
	living(t, true, "a server above", pid)
	if onlyOneUser() {
		t.Log("only root can be another user")
		return
	}
	theirs := home.start(t, func(c *exec.Cmd) { c.Dir, c.SysProcAttr = "/", asNobody }, "/bin/sleep", "1000")
	home.does(t, failed, "stop", strconv.Itoa(theirs.pid()), "--force")
	living(t, true, "another user's", theirs.pid())
}

// What policies end, and what they leave although it is as old.
func TestPolicies(t *testing.T) {
	w := another(t, `orphan_grace_minutes: 0.01
idle_shutdown_minutes: 0.02
policies:
  - {project: alpha, never: true}
  - {project: background, idle_shutdown_minutes: none}
`)
	w.startDaemon(t)
	paused := func(body string) {
		t.Helper()
		same(t, body, w.ask(control, "PUT", p+"policy", body, nil).status, 200)
	}
	paused(`{"paused": true, "minutes": 60}`) // until all is as it is meant
	stays := []int{alpha.pid()}
	start := func(name string, habits string, above ...string) *process {
		root, pid := w.startTree(t, nil, name, append(above, w.httpServer(w.project(t, name, habits))...)...)
		stays = append(stays, pid)
		return root
	}
	start("busy-one", "busy")
	connectTo(t, start("used-one", ""))
	start("pinned-one", "")
	w.does(t, fine, "pin", "pinned-one")
	// One that was started in the background has the same parent as an orphan.
	start("background", "", "/bin/sh", "-c", `"$@" &`, "sh")
	_, attached := w.startTree(t, nil, "attached-one", w.stdioServer(w.project(t, "attached-one"))...)
	_, unused := w.startTree(t, nil, "unused-one", w.httpServer(w.project(t, "unused-one"))...)
	client := w.start(t, nil, w.path("above", clientName), w.path("bin", ledger), "serve", "--project", w.project(t, "orphan", "mute"))
	orphan := 0
	apptest.Eventually(t, "the orphan to be is known", func() bool {
		in := w.find("kind", "ledger")
		if in["client"] != nil {
			orphan = int(in["pid"].(float64))
		}
		return orphan != 0
	})
	defer syscall.Kill(orphan, syscall.SIGKILL)
	client.end()
	living(t, true, "while the policies are paused", unused, orphan)
	paused(`{"paused": false}`)
	gone(t, unused, orphan)
	living(t, true, "what policies leave", append(stays, attached)...)
	apptest.Contains(t, w.does(t, fine, "events", "--json"), fmt.Sprintf(`"pid":%d,`, unused), fmt.Sprintf(`"pid":%d,`, orphan))
}
