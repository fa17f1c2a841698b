package process

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
)

func isShell(p Info) bool { return p.Name == "sh" || p.Name == "dash" || p.Name == "bash" }

// below waits for the sleep that a process has started, at any depth.
func below(t *testing.T, root int, seconds string) Info {
	t.Helper()
	var found Info
	eventually(t, "sleep "+seconds+" runs", func() bool {
		s, err := ReadStat(root)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := Tree(s.Identity)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range tree {
			info, err := Read(p.PID)
			if err == nil && info.Name == "sleep" && len(info.Args) == 2 && info.Args[1] == seconds {
				found = info
				return true
			}
		}
		return false
	})
	return found
}

func TestClimb(t *testing.T) {
	const itself = "itself"
	for _, c := range []struct {
		name, script string
		null         bool // standard input of the outermost shell; else a pipe
		root         string
		client       string // "sh" or "test"
	}{
		{"one", "sleep 600; :", false, "outer", "test"},
		{"two", "sh -c 'sleep 600; :'; :", false, "outer", "test"},
		{"none: it became the server", "exec sleep 600", false, itself, "test"},
		{"an input that was moved", "(exec 8<&0 9>&1 </dev/null >&2; exec sleep 600); :", false, "outer", "test"},
		{"a child beside it", "sleep 601 <&0 & sleep 600; :", false, itself, "sh"},
		{"another input", "(exec </dev/null; exec sleep 600); :", false, itself, "sh"},
		{"an input of its own", "sleep 601 | sleep 600; :", false, itself, "sh"},
		{"the null device for both", "sleep 600; :", true, "outer", "test"},
		{"an input below a wrapper without", "(exec <$0; exec sleep 600); :", true, itself, "sh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script, os.Args[0])
			if !c.null {
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
			}
			outer := startGroup(t, cmd)
			server := below(t, outer, "600")
			root, client, err := Climb(Local(), server, isShell)
			if err != nil || client == nil {
				t.Fatal(root, client, err)
			}
			want := server.Identity
			if c.root == "outer" {
				want = identityOf(t, outer)
			}
			of := "sh"
			if client.PID == os.Getpid() {
				of = "test"
			}
			if root != want || of != c.client {
				t.Errorf("root %v, want %v; client %+v", root, want, client)
			}
			if root, client, err := Climb(Local(), server, func(Info) bool { return false }); root != server.Identity || client == nil || err != nil {
				t.Errorf("without launchers: %v %v %v", root, client, err)
			}
		})
	}
}

func TestClimbOfAnOrphan(t *testing.T) {
	out, err := exec.Command("sh", "-c", "sh -c 'sleep 600 >/dev/null 2>&1 & echo $!'").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	waitForName(t, pid, "sleep")
	server, err := Read(pid)
	if err != nil {
		t.Fatal(err)
	}
	if root, client, err := Climb(Local(), server, isShell); root != server.Identity || client != nil || err != nil {
		t.Errorf("%v, %+v, %v", root, client, err)
	}
}

func TestClimbOfTheDead(t *testing.T) {
	me := identityOf(t, os.Getpid())
	for _, id := range []monitor.Identity{{PID: unused(t)}, {PID: me.PID, Start: me.Start + 1}} {
		if _, _, err := Climb(Local(), Info{Identity: id}, isShell); !errors.Is(err, ErrGone) {
			t.Errorf("%v: %v", id, err)
		}
	}
}

func TestAdopts(t *testing.T) {
	for _, c := range []struct {
		p    Info
		want bool
	}{
		{Info{Identity: monitor.Identity{PID: 1}, Name: "bash"}, true},
		{Info{Identity: monitor.Identity{PID: 900}, Name: "systemd", Exe: "/usr/lib/systemd/systemd"}, true},
		{Info{Identity: monitor.Identity{PID: 9}, Name: "Relay(10)", Exe: "/init"}, true},
		{Info{Identity: monitor.Identity{PID: 9}, Name: "node", Exe: "/usr/bin/node"}, false},
		{Info{Identity: monitor.Identity{PID: 30}, Name: "init"}, true},
		{Info{Identity: monitor.Identity{PID: 900}, Name: "gnome-terminal-", Exe: "/usr/libexec/gnome-terminal-server"}, false},
		{Info{}, false}, // one that cannot be seen
	} {
		if got := Adopts(c.p); got != c.want {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
}
