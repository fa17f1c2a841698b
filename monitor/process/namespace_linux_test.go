package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Of two processes one has a network of its own.
func TestSameNetwork(t *testing.T) {
	for _, own := range []bool{false, true} {
		cmd := exec.Command("sleep", "600")
		if own {
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET}
			if os.Getuid() != 0 {
				cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
			}
		}
		pid := start(t, cmd)
		if same, err := SameNetwork(pid); same == own || err != nil {
			t.Errorf("of its own is %v: %v, %v", own, same, err)
		}
		if same, err := SameNamespace(pid); !same || err != nil {
			t.Errorf("counted otherwise: %v, %v", same, err)
		}
	}
	if _, err := SameNetwork(1 << 30); err == nil {
		t.Error("of nobody")
	}
}

func TestSameNamespace(t *testing.T) {
	if same, err := SameNamespace(os.Getpid()); err != nil || !same {
		t.Errorf("our own: %v, %v", same, err)
	}
	if _, err := SameNamespace(1 << 30); err == nil {
		t.Error("of nobody")
	}
}
