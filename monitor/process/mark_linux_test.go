package process

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

const mark = "LAMPLIGHTER_PROCESS_TEST_MARK"

// TestMarked finds what was started with a mark, wherever it has gone, and
// nothing else.
func TestMarked(t *testing.T) {
	value := rand.Text()
	start := func(value, script string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), mark+"="+value)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	plain := start(value, "echo; exec sleep 600")
	start(value+"x", "echo; exec sleep 600")
	start("x"+value, "echo; exec sleep 600")
	// A daemon: its parent has ended, and it is in a session of its own.
	daemon := start(value, "setsid sleep 600 >/dev/null 2>&1 & echo")
	ended := start(value, "echo; exit 0")
	daemon.Wait()
	eventually(t, "it has ended", func() bool {
		s, err := ReadStat(ended.Process.Pid)
		return err == nil && s.State == Unreaped
	})

	var found []monitor.Identity
	eventually(t, "both are found", func() bool {
		var err error
		if found, err = Marked(mark, value); err != nil {
			t.Fatal(err)
		}
		return len(found) == 2 && slices.ContainsFunc(found, func(id monitor.Identity) bool {
			info, err := Read(id.PID)
			return err == nil && id.PID != plain.Process.Pid && info.Name == "sleep"
		})
	})
	for _, id := range found {
		if s, err := ReadStat(id.PID); err != nil || s.Identity != id {
			t.Errorf("%v is %v, %v", id, s.Identity, err)
		}
		if id.PID != plain.Process.Pid {
			p, err := os.FindProcess(id.PID)
			if err != nil {
				t.Fatal(err)
			}
			p.Kill()
			p.Release() // a descriptor that the collector closes at some time disturbs who counts them
		}
	}
}

// TestMarkedSparesUsAndWhoStartedUs, although all of us have the mark.
func TestMarkedSparesUsAndWhoStartedUs(t *testing.T) {
	environ, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(environ, []byte{0})
	name, value, ok := strings.Cut(string(first), "=")
	if !ok {
		t.Fatalf("the environment begins with %q", first)
	}
	found, err := Marked(name, value)
	if err != nil {
		t.Fatal(err)
	}
	above, err := Ancestors(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range found {
		if id.PID == os.Getpid() || slices.Contains(above, id) {
			t.Errorf("%v is among %v", id, found)
		}
	}
}

// TestMarkedReadsOnlyWholeEntries, and no process of somebody else.
func TestMarkedReadsOnlyWholeEntries(t *testing.T) {
	for name, c := range map[string]struct {
		environ string
		want    bool
	}{
		"alone": {"M=1\x00", true}, "first": {"M=1\x00A=b\x00", true}, "last, not ended": {"A=b\x00M=1", true},
		"longer": {"M=12\x00", false}, "shorter": {"M=\x00", false}, "within": {"A=M=1\x00XM=1\x00", false}, "none": {"", false},
		"twice": {"M=2\x00M=1\x00", true},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "7")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		stat := "7 (x) S 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 99 4096000 321 1 2 3 4 0 0\n"
		for file, text := range map[string]string{"environ": c.environ, "stat": stat, "cmdline": "x\x00"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, err := (procfs{root}).marked("M", "1", nil)
		if err != nil || (len(found) == 1) != c.want || c.want && found[0] != (monitor.Identity{PID: 7, Start: 99}) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if found, err := (procfs{root}).marked("M", "1", []int{7}); err != nil || len(found) > 0 {
			t.Errorf("%s: spared, and found %v, %v", name, found, err)
		}
	}
	if found, err := (procfs{filepath.Join(t.TempDir(), "none")}).marked("M", "1", nil); err == nil {
		t.Errorf("without a process file system there are %v", found)
	}
}

func TestEnvironmentHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.StringMatching(`[A-Z]{1,3}=[a-z=]{0,3}`)
		list := rapid.SliceOfN(entry, 0, 5).Draw(t, "environment")
		wanted := entry.Draw(t, "entry")
		environ := strings.Join(list, "\x00")
		if rapid.Bool().Draw(t, "ended") && len(list) > 0 {
			environ += "\x00"
		}
		if got := holds([]byte(environ), []byte(wanted)); got != slices.Contains(list, wanted) {
			t.Fatalf("%s in %q: %v", strconv.Quote(wanted), environ, got)
		}
	})
}
