package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestSharesDirectory(t *testing.T) {
	dir := t.TempDir()
	sleep := func(flags uintptr, script string) int {
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: flags}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		pid := start(t, cmd)
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Skipf("there can be no other mount namespace here: %v", err)
		}
		return pid
	}
	const waits = "echo; exec sleep 600"
	for _, test := range []struct {
		name   string
		flags  uintptr
		script string
		dir    string
		want   bool
	}{
		{"as we see it", 0, waits, dir, true},
		{"as we see it, under another name", 0, waits, "/nowhere", true}, // nobody doubts it
		{"in a namespace of its own", syscall.CLONE_NEWNS, waits, dir, true},
		{"another one is at the same path", syscall.CLONE_NEWNS, "mount -t tmpfs none . && cd . && cd \"$PWD\" && " + waits, dir, false},
		{"there is none here", syscall.CLONE_NEWNS, waits, "/nowhere", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.flags != 0 && os.Getuid() != 0 {
				t.Skip("needs root")
			}
			pid := sleep(test.flags, test.script)
			if same, err := SharesDirectory(pid, test.dir); same != test.want || err != nil {
				t.Errorf("%v, %v", same, err)
			}
			if same, err := SharesPath(pid, test.dir); same != test.want || err != nil {
				t.Errorf("by its path: %v, %v", same, err)
			}
		})
	}
	if _, err := SharesDirectory(1<<30, dir); err == nil {
		t.Error("of nobody")
	}
	if _, err := SharesPath(1<<30, dir); err == nil {
		t.Error("a path of nobody")
	}
}
