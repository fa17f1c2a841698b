package process

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"lamplighter/monitor"
)

// These tests hold on Windows, and under Wine, where they run most often. What
// Wine cannot show: processes of other users and protected ones, because all
// that runs there is the same user's and may be opened.

func sameFile(a, b string) bool { return strings.EqualFold(filepath.Clean(a), filepath.Clean(b)) }

func TestReadTellsWhoAProcessIs(t *testing.T) {
	args := []string{"plain", "with space", `C:\dir with space\`, `a "quoted" word`, "", "grün → 灯", `back\\slash"`}
	h := start(t, "idle", args...)
	got, err := Read(h.PID)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got.Identity != h.Identity || got.Parent != os.Getpid() || !sameFile(got.Exe, exe) || got.Name != "process.test" {
		t.Errorf("%+v is not child %v of %d, run from %s", got, h.Identity, os.Getpid(), exe)
	}
	if len(got.Args) == 0 || !slices.Equal(got.Args[1:], args) {
		t.Errorf("arguments %q, want %q", got.Args, args)
	}
}

// A program that is not ours, and not written in Go.
func TestReadAnotherProgram(t *testing.T) {
	cmd := exec.Command("cmd.exe", "/c", "pause")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // it ends by itself too
		stdin.Close()
		_ = cmd.Wait()
	}()
	var got Info
	eventually(t, "it has arguments", func() bool { // which the system lays down after it has begun
		got, err = Read(cmd.Process.Pid)
		return err != nil || len(got.Args) > 0
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.EqualFold(got.Name, "cmd") || !slices.Equal(got.Args[1:], []string{"/c", "pause"}) {
		t.Errorf("%+v", got)
	}
}

func TestIdentityStaysAndIsNoOthers(t *testing.T) {
	h := start(t, "idle")
	for range 3 {
		if again := identityOf(t, h.PID); again != h.Identity {
			t.Errorf("%v became %v", h.Identity, again)
		}
	}
	if info, err := Read(h.PID); err != nil || info.Identity != h.Identity {
		t.Errorf("Read: %v, %v", info.Identity, err)
	}
	if other := start(t, "idle"); other.Start < h.Start {
		t.Errorf("%v started after %v", other.Identity, h.Identity)
	}
	if at := StartedAt(h.Identity); time.Since(at).Abs() > time.Hour {
		t.Errorf("started at %v", at)
	}
}

func TestWhatIsGone(t *testing.T) {
	h := start(t, "idle")
	// Somebody's handle keeps the entry of a process that has ended.
	held, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(h.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(held)
	h.kill()
	for _, pid := range []int{h.PID, 0, -1, 1 << 33, 0x7ffffffc} {
		if _, err := Read(pid); !errors.Is(err, ErrGone) {
			t.Errorf("Read(%d): %v", pid, err)
		}
		if _, err := ReadStat(pid); !errors.Is(err, ErrGone) {
			t.Errorf("ReadStat(%d): %v", pid, err)
		}
	}
	if _, err := Tree(h.Identity); !errors.Is(err, ErrGone) {
		t.Errorf("Tree: %v", err)
	}
}

func TestStatTellsMemoryAndTime(t *testing.T) {
	h := start(t, "busy")
	tree, err := Tree(h.Identity)
	if err != nil {
		t.Fatal(err)
	}
	s := tree[0]
	if s.Parent != os.Getpid() || s.State != Running || s.RSSBytes == 0 {
		t.Errorf("%+v", s)
	}
	eventually(t, "its CPU time grows", func() bool {
		now, err := ReadStat(h.PID)
		return err == nil && now.CPU > s.CPU
	})
}

func TestTree(t *testing.T) {
	h := start(t, "parent")
	pid := h.number(t)
	grandchild := identityOf(t, pid)
	expect := func(root monitor.Identity, want ...monitor.Identity) {
		t.Helper()
		tree, err := Tree(root)
		if err != nil {
			t.Fatal(err)
		}
		var got []monitor.Identity
		for _, s := range tree {
			got = append(got, s.Identity)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the tree of %v is %v, want %v", root, got, want)
		}
	}
	expect(h.Identity, h.Identity, grandchild)
	expect(grandchild, grandchild)
	tree, err := Tree(identityOf(t, os.Getpid()))
	if err != nil || len(tree) != 3 || tree[1].PID != h.PID || tree[2].PID != pid || tree[2].Parent != h.PID {
		t.Errorf("our own tree is %+v, %v", tree, err)
	}
	if _, err := Tree(monitor.Identity{PID: h.PID, Start: h.Start - 1}); !errors.Is(err, ErrGone) {
		t.Errorf("another process of that pid: %v", err)
	}
}

func TestListeners(t *testing.T) {
	h := start(t, "listen", "127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0")
	quiet := start(t, "idle")
	var want []Listener
	hosts := []string{"127.0.0.1", "0.0.0.0", "::1", "::"}
	for i, port := range strings.Fields(h.said) {
		addr, err := netip.ParseAddrPort(net.JoinHostPort(hosts[i], port))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, Listener{PID: h.PID, Addr: addr})
	}
	want = sortListeners(want)
	got, err := Listeners([]int{h.PID, quiet.PID, 1 << 20})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if none, err := Listeners([]int{quiet.PID}); err != nil || len(none) > 0 {
		t.Errorf("%v, %v", none, err)
	}
}
