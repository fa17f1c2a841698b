//go:build unix

package launch

import (
	"os/exec"
	"syscall"
)

// tree is a program that was started as the leader of a session, and what it
// has started.
type tree struct {
	pid  int
	mark string
}

func startTree(cmd *exec.Cmd, mark string) (*tree, error) {
	// A session has no terminal: nothing can ask there.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &tree{pid: cmd.Process.Pid, mark: mark}, nil
}

// await returns when the program has ended. It is not reaped, so that its pid,
// which is also that of its group, is nobody else's yet.
func (t *tree) await() error { return awaitUnreaped(t.pid) }

// kill ends the group; with far also what has left it and can be found. The
// program must not have been reaped.
func (t *tree) kill(far bool) {
	_ = syscall.Kill(-t.pid, syscall.SIGKILL) // it has ended when this fails
	if far {
		killMarked(t.mark)
	}
}

// killRest ends what is left when the program has been reaped.
func (t *tree) killRest() { killMarked(t.mark) }

func (t *tree) close() {}
