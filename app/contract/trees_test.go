//go:build contract && linux

package contract

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// alive reports whether a process runs. What has ended and only waits for its
// parent does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest != "" && rest[0] != 'Z' && rest[0] != 'X'
}

// treeOf is a process and all below it.
func treeOf(pid int) []int {
	tree := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, list := range lists {
		text, _ := os.ReadFile(list) // it may have ended
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			tree = append(tree, treeOf(child)...)
		}
	}
	return tree
}

// processesOf are the living processes whose command line has all of these.
func processesOf(words ...string) (found []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
next:
	for _, path := range lines {
		text, _ := os.ReadFile(path) // it may have ended
		line := "\x00" + string(text)
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); alive(pid) {
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

// listener is a place where a process listens: the address as /proc has it.
type listener struct {
	address string
	port    int
}

// listenersOf are those of a process.
func listenersOf(pid int) (found []listener) {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is right
	open := map[string]bool{}
	for _, link := range links {
		to, _ := os.Readlink(link) // it may have been closed
		open[to] = true
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(file) // then there is none
		for line := range strings.SplitSeq(string(text), "\n") {
			const local, state, inode = 1, 3, 9
			f := strings.Fields(line)
			if len(f) <= inode || f[state] != "0A" || !open["socket:["+f[inode]+"]"] {
				continue
			}
			address, port, _ := strings.Cut(f[local], ":")
			n, _ := strconv.ParseInt(port, 16, 32) // it is one
			found = append(found, listener{address, int(n)})
		}
	}
	return found
}

// dashboardOf is the port of a stand-in's dashboard, 0: it has none yet.
func dashboardOf(pid int) int {
	for _, l := range listenersOf(pid) {
		if l.port >= firstDashboard && l.port < firstDashboard+1000 {
			return l.port
		}
	}
	return 0
}

// gone waits until all of these processes have ended.
func gone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
	}
}

// serverLine is the command of a server over HTTP on a new project with habits.
func (w *world) serverLine(t *testing.T, name, words string) []string {
	t.Helper()
	project := w.project(name)
	habits(t, project, words)
	return serverOf(w, project)
}

// startTree starts a command that ends in a server on the project of that name,
// and waits until the daemon of this world knows it.
func (w *world) startTree(t *testing.T, change func(*exec.Cmd), name string, line []string) (root *process, pid int) {
	t.Helper()
	root = w.start(change, line)
	t.Cleanup(root.end)
	return root, int(w.is(t, "live_with_project", "project_name", name)["pid"].(float64))
}

// connectTo holds a connection to the MCP port of a server, as its client does.
func connectTo(t *testing.T, p *process) {
	t.Helper()
	var conn net.Conn
	eventually(t, "the server listens", func() (ok bool) {
		_, rest, _ := strings.Cut(p.err.String(), "running on http://")
		address, _, _ := strings.Cut(rest, " ")
		var err error
		conn, err = net.Dial("tcp", address)
		return err == nil
	})
	t.Cleanup(func() { conn.Close() })
}

// Real trees that end, all of them, and nothing before it is meant.
func TestStopEndsATree(t *testing.T) {
	launcher, client := home.path("above", launcherName), home.path("above", clientName)
	for _, row := range []struct {
		name, habits string
		above        []string
	}{
		{"plain", "", nil},
		{"stubborn", "stubborn child", nil},
		{"launched", "", []string{launcher}},
		{"attended", "child", []string{client, launcher}},
	} {
		t.Run(row.name, func(t *testing.T) {
			root, pid := home.startTree(t, nil, row.name, append(row.above, home.serverLine(t, row.name, row.habits)...))
			in := home.instance(pid)
			tab, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%v", in["port"])) // of a browser, which is no use of a server
			must(t, err)
			defer tab.Close()
			tree, stays := treeOf(root.pid()), 0
			if len(row.above) > 1 { // the client itself
				tree, stays = tree[1:], root.pid()
			}
			if !slices.Contains(tree, pid) || len(tree) < 1+len(row.above)+strings.Count(row.habits, "child")-min(stays, 1) {
				t.Fatalf("the tree is %d, and of it is %d", tree, pid)
			}
			for _, by := range []any{pid, in["port"], in["id"], row.name} {
				if said := home.does(t, fine, "stop", fmt.Sprint(by), "--dry-run", "--json"); !strings.Contains(said, fmt.Sprint(in["id"])) {
					t.Errorf("stop %v would not end it: %s", by, said)
				}
			}
			for _, pid := range tree {
				if !alive(pid) {
					t.Fatalf("%d has ended by a dry run", pid)
				}
			}
			said := home.does(t, fine, "stop", row.name)
			for _, pid := range tree {
				if alive(pid) { // stop comes back when all have ended
					t.Errorf("%d of %d is left: %s", pid, tree, said)
				}
			}
			if stays != 0 && !alive(stays) {
				t.Error("its client has ended, too")
			}
		})
	}
}

// Real processes that nobody may end so: without force, or at all.
func TestStopRefuses(t *testing.T) {
	_, busyPID := home.startTree(t, nil, "busy", home.serverLine(t, "busy", busyHabit))
	used, usedPID := home.startTree(t, nil, "used", home.serverLine(t, "used", ""))
	connectTo(t, used)
	_, pinnedPID := home.startTree(t, nil, "pinned", home.serverLine(t, "pinned", ""))
	home.does(t, fine, "pin", "pinned")

	// What only has the words of a server is none: by its arguments, by its
	// name, by its directory.
	editor := home.start(nil, []string{"/bin/sh", "-c", "read line; :", home.path("bin", serena), "start-mcp-server", "--project", alpha.project})
	t.Cleanup(editor.end)
	sleep := home.start(func(c *exec.Cmd) { c.Args[0] = "serena" }, []string{"/bin/sleep", "1000"})
	t.Cleanup(sleep.end)
	for _, row := range []struct {
		name   string
		pid    int
		forced int // the exit status with --force
	}{
		{"a call runs", busyPID, fine},
		{"somebody is connected to its MCP port", usedPID, fine},
		{"pinned", pinnedPID, fine},
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
		if !alive(row.pid) {
			t.Fatalf("%s: %d has ended", row.name, row.pid)
		}
		if listed := home.instance(row.pid) != nil; listed != (row.forced == fine) {
			t.Errorf("%s: it is in the list of servers: %v", row.name, listed)
		}
	}
	if said := home.does(t, fine, "stop", "used", "--force"); alive(usedPID) {
		t.Errorf("with force: %s", said)
	}
}

// A server above the one that orders its end is not ended, nor is another
// user's.
func TestStopKeepsWhatIsNotOurs(t *testing.T) {
	line := home.serverLine(t, "above", "orders")
	project := home.project("above")
	write(t, filepath.Join(project, "orders"), fmt.Sprintf("%s stop $PPID --force\necho $? >%s/outcome\n", lamplighter()[0], project))
	w := another(t, "") // without a daemon it is the verb that ends what it is told to
	above, pid := home.startTree(t, func(c *exec.Cmd) { c.Env = w.env }, "above", line)
	outcome := func() string { return lines(project, "outcome")[0] }
	eventually(t, "the order comes to an end", func() bool { return outcome() != "" })
	if outcome() != "1" || !alive(pid) || !above.running() {
		t.Errorf("exit status %s", outcome())
	}

	if onlyOneUser() {
		t.Log("only root can be another user")
		return
	}
	theirs := home.start(func(c *exec.Cmd) { c.Dir, c.SysProcAttr = "/", asNobody }, []string{"/bin/sleep", "1000"})
	if said := home.does(t, failed, "stop", strconv.Itoa(theirs.pid()), "--force"); !theirs.running() {
		t.Errorf("another user's: %s", said)
	}
	theirs.end()
}

// What policies end, and what they leave although it is as old.
func TestPolicies(t *testing.T) {
	w := another(t, `orphan_grace_minutes: 0.01
idle_shutdown_minutes: 0.02
policies:
  - {project: alpha, never: true}
  - {project: background, idle_shutdown_minutes: none}
`)
	must(t, w.startDaemon())
	paused := func(body string) {
		t.Helper()
		if a := w.ask(t, socket, "PUT", "/global-dashboard/policy", body, nil); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	paused(`{"paused": true, "minutes": 60}`) // until all is as it is meant
	stays := map[string]int{"alpha": alpha.pid}
	start := func(name, habits string) *process {
		root, pid := w.startTree(t, nil, name, w.serverLine(t, name, habits))
		stays[name] = pid
		return root
	}
	start("busy-one", busyHabit)
	connectTo(t, start("used-one", ""))
	start("pinned-one", "")
	w.does(t, fine, "pin", "pinned-one")
	_, stays["attached-one"] = w.startTree(t, nil, "attached-one", w.wrapped(w.project("attached-one")))
	// One that was started in the background has the same parent as an orphan.
	_, stays["background"] = w.startTree(t, nil, "background", append([]string{"/bin/sh", "-c", `"$@" &`, "sh"}, w.serverLine(t, "background", "")...))

	_, unusedPID := w.startTree(t, nil, "unused-one", w.serverLine(t, "unused-one", ""))
	habits(t, w.project("orphan"), deafHabit)
	client := w.start(nil, []string{w.path("above", clientName), w.path("bin", ledger), "serve", "--project", w.project("orphan")})
	orphan := 0
	eventually(t, "the orphan to be is known", func() bool {
		in := w.find("kind", "ledger")
		if in["client"] != nil {
			orphan = int(in["pid"].(float64))
		}
		return orphan != 0
	})
	defer syscall.Kill(orphan, syscall.SIGKILL)
	client.end()
	if !alive(unusedPID) || !alive(orphan) {
		t.Error("they end although the policies are paused")
	}
	paused(`{"paused": false}`)
	gone(t, unusedPID, orphan)
	for name, pid := range stays {
		if !alive(pid) {
			t.Errorf("%s has ended", name)
		}
	}
	said := w.does(t, fine, "events", "--json")
	for _, pid := range []int{unusedPID, orphan} {
		if !strings.Contains(said, fmt.Sprintf(`"pid":%d,`, pid)) {
			t.Errorf("the end of %d is no event: %s", pid, said)
		}
	}
}
