package launch

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// someone is a process that has nothing to do with a launch.
type someone struct{ identity monitor.Identity }

func stranger(t *testing.T) someone {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s, err := process.ReadStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return someone{s.Identity}
}

// markedDaemon is a program of a launch that has left its tree: init is its parent.
// It is ended with the test.
func markedDaemon(t *testing.T, id string) someone {
	t.Helper()
	cmd := exec.Command("sh", "-c", `setsid tail -f /dev/null >/dev/null 2>&1 & echo $!`)
	cmd.Env = append(os.Environ(), launchMark+"="+id)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatal(err)
	}
	s, err := process.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { forceEnd(s.Identity) })
	apptest.Eventually(t, "it shows its mark", func() bool { // which it does not while it becomes tail
		info, err := process.Read(pid)
		marked, _ := process.Marked(launchMark, id)
		return err == nil && info.Name == "tail" && slices.Contains(marked, s.Identity)
	})
	return someone{s.Identity}
}

// forceEnd kills exactly this process.
func forceEnd(id monitor.Identity) {
	if h, err := process.Hold(id); err == nil {
		_ = h.Kill()
		h.Close()
	}
}
