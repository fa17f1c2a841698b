package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
)

// passUntil makes passes until one returns what the test waits for.
func passUntil(t *testing.T, table *Table, what string, found func(Info) bool) Info {
	t.Helper()
	var hit Info
	eventually(t, what, func() bool {
		fresh, err := table.Pass()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(fresh, found)
		if i >= 0 {
			hit = fresh[i]
		}
		return i >= 0
	})
	return hit
}

func TestPassOverRealProcesses(t *testing.T) {
	before := sleeper(t)
	waitForName(t, before.PID, "sleep")
	table := NewTable()
	if !table.source.gated {
		t.Log("loadavg is not the kernel's own here")
	}
	info := passUntil(t, table, "the first pass returns what ran before", func(i Info) bool { return i.Identity == before })
	exe, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(info.Args, []string{"sleep", "600"}) || info.Name != "sleep" || info.Exe != exe || info.Parent != os.Getpid() {
		t.Errorf("%+v", info)
	}
	after := sleeper(t)
	passUntil(t, table, "a pass returns what starts later", func(i Info) bool {
		if i.Identity == before {
			t.Errorf("returned twice: %+v", i)
		}
		return i.Identity == after && slices.Equal(i.Args, []string{"sleep", "600"})
	})
}

func waitForName(t testing.TB, pid int, name string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d is %s", pid, name), func() bool {
		info, err := Read(pid)
		return err == nil && info.Name == name
	})
}

// shell runs a script that waits for a line on its standard input, in a process
// group of its own that is killed when the test ends.
func shell(t testing.TB, script string, args ...string) (monitor.Identity, io.Writer, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", script}, args...)...)
	in, out := pipes(t, cmd)
	return identityOf(t, startGroup(t, cmd)), in, bufio.NewReader(out)
}

func TestPassSeesRealExec(t *testing.T) {
	for _, c := range []struct {
		name string
		age  time.Duration // by which the process grows older before its exec
	}{{"young", 0}, {"old", time.Hour}} {
		t.Run(c.name, func(t *testing.T) {
			id, in, _ := shell(t, "read x; exec sleep 601")
			waitForName(t, id.PID, "sh")
			skip := time.Duration(0)
			table := NewTable()
			table.source = &tableSource{fs: system(), uid: uint32(os.Geteuid()), now: func() time.Duration { return sinceBoot() + skip }, gated: true}
			passUntil(t, table, "the shell", func(i Info) bool { return i.Identity == id && i.Name == "sh" })
			skip = c.age
			if _, err := table.Pass(); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(in, "go")
			waitForName(t, id.PID, "sleep")
			skip += c.age
			passUntil(t, table, "its new program", func(i Info) bool {
				return i.Identity == id && slices.Equal(i.Args, []string{"sleep", "601"})
			})
		})
	}
}

func TestPassLeavesOutProcessesOfOthers(t *testing.T) {
	mine := sleeper(t)
	skip := time.Duration(0)
	table := NewTable()
	table.source = &tableSource{fs: system(), uid: 4_242_424, now: func() time.Duration { return sinceBoot() + skip }, gated: true}
	if fresh, err := table.Pass(); err != nil || len(fresh) > 0 {
		t.Fatalf("%v, %v", fresh, err)
	}
	table.source.uid = uint32(os.Geteuid()) // as if they had changed their user
	skip = time.Hour
	passUntil(t, table, "found on the round trip", func(i Info) bool { return i.Identity == mine })
}

// TestPassWithoutDescriptorsLeft makes passes while none or one can be opened:
// that is an error, and nothing is lost by it.
func TestPassWithoutDescriptorsLeft(t *testing.T) {
	old := sleeper(t)
	waitForName(t, old.PID, "sleep")
	table := NewTable()
	passUntil(t, table, "what ran before", func(i Info) bool { return i.Identity == old })
	fresh := sleeper(t)
	waitForName(t, fresh.PID, "sleep")
	id, in, _ := shell(t, "read x; exec sleep 601")
	waitForName(t, id.PID, "sh")
	passUntil(t, table, "the shell", func(i Info) bool { return i.Identity == id })
	young := NewTable()

	raise := limitDescriptors(t, 256)
	taken := takeAll()
	restore := func() {
		for _, fd := range taken {
			syscall.Close(fd)
		}
		taken = nil
		raise()
	}
	defer restore()
	for _, table := range []*Table{table, young} {
		if got, err := table.Pass(); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%d processes, %v", len(got), err)
		}
	}
	if len(taken) == 0 {
		t.Fatal("no descriptor could be taken")
	}
	syscall.Close(taken[0]) // one is enough to list, too few to read
	taken = taken[1:]
	if got, err := young.Pass(); len(got) > 0 || err != nil {
		t.Errorf("%d processes, %v", len(got), err)
	}
	restore()
	passUntil(t, young, "a first pass that failed loses nothing", func(i Info) bool { return i.Identity == fresh })
	fmt.Fprintln(in, "go")
	passUntil(t, table, "the exec", func(i Info) bool {
		if i.Identity == old || i.Identity == fresh {
			t.Errorf("returned twice: %+v", i)
		}
		return i.Identity == id && i.Name == "sleep"
	})
}

func TestReadStatOfRealProcesses(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	pid := start(t, cmd)
	s, err := ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	if s.PID != pid || s.Start == 0 || s.Parent != os.Getpid() || s.State != Running {
		t.Errorf("%+v", s)
	}
	eventually(t, "it has memory", func() bool { tree, _ := Tree(s.Identity); return len(tree) == 1 && tree[0].RSSBytes > 0 })
	kill(t, pid, syscall.SIGSTOP)
	waitForState(t, pid, Stopped)
	kill(t, pid, syscall.SIGCONT)
	waitForState(t, pid, Running)
	kill(t, pid, syscall.SIGKILL)
	waitForState(t, pid, Unreaped)
	if again, err := ReadStat(pid); err != nil || again.Identity != s.Identity {
		t.Errorf("the unreaped child is %+v, %v", again, err)
	}
	if info, err := Read(pid); err != nil || len(info.Args) > 0 || info.Name != "sleep" {
		t.Errorf("the unreaped child is %+v, %v", info, err)
	}
	cmd.Wait()
	if _, err := ReadStat(pid); !errors.Is(err, ErrGone) {
		t.Errorf("after it was reaped: %v", err)
	}
	for what, err := range map[string]error{"Read": second(Read(pid)), "Children": second(Children(pid)), "Tree": second(Tree(s.Identity))} {
		if !errors.Is(err, ErrGone) {
			t.Errorf("%s of a process that is gone: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestReadStatOfATracedProcess(t *testing.T) {
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	pid := start(t, cmd)
	eventually(t, "stopped for its tracer", func() bool {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(b), ") t ")
	})
	if s, err := ReadStat(pid); err != nil || s.State != Running {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestCPUTimeGrows(t *testing.T) {
	pid := start(t, exec.Command("sh", "-c", "while :; do :; done"))
	eventually(t, "it has used 50 ms", func() bool {
		s, err := ReadStat(pid)
		return err == nil && s.CPU >= 50*time.Millisecond
	})
}

func TestStartedAt(t *testing.T) {
	before := time.Now()
	id := sleeper(t)
	at := StartedAt(id)
	if now := time.Now(); at.After(now) {
		t.Errorf("it says %v, which is to come at %v", at, now)
	}
	if d := at.Sub(before); d < -2*time.Second || d > 20*time.Second {
		t.Errorf("it says %v after it was started: %v", at, d)
	}
}

func TestNoProcIsNotDeath(t *testing.T) {
	nowhere := procfs{t.TempDir()}
	_, err := nowhere.readStat(1)
	if err == nil || errors.Is(err, ErrGone) {
		t.Errorf("without a /proc: %v", err)
	}
}

func TestStrangeNamesAndArguments(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	name := "a) R 1\n\\n( b"
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(sleep, link); err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: link, Args: []string{"sleep", "600"}}
	pid := start(t, cmd)
	if strings.Contains(sleep, "busybox") {
		t.Log("one program with many names")
	}
	waitForName(t, pid, name)
	if s, err := ReadStat(pid); err != nil || s.Parent != os.Getpid() {
		t.Errorf("%+v, %v", s, err)
	}

	long := strings.Repeat("x", 100_000)
	id, _, _ := shell(t, "read x", "", long, long)
	var info Info
	eventually(t, "the shell runs", func() bool {
		info, err = Read(id.PID)
		return err == nil && info.Name == "sh" && len(info.Args) > 0 // the name shows first
	})
	total := 0
	for _, a := range info.Args {
		total += len(a) + 1
	}
	if len(info.Args) != 6 || info.Args[1] != "-c" || info.Args[3] != "" || info.Args[4] != long || total > maxCmdline+1 {
		t.Errorf("%d arguments of %d bytes in all", len(info.Args), total)
	}
}

func TestTreeOfRealProcesses(t *testing.T) {
	// root ─ inner shell ─ two sleeps; one double fork that leaves the tree.
	root, _, out := shell(t, `sh -c 'sleep 600 & sleep 600 & wait' & (setsid sleep 600 & echo $!); read x`)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	left, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(left, syscall.SIGKILL)
	var got []Stat
	eventually(t, "the tree is a shell, a shell and two sleeps", func() bool {
		if got, err = Tree(root); err != nil {
			t.Fatal(err)
		}
		// The subshell that lets one process leave is there for a moment.
		return len(got) == 4 && got[1].Parent == root.PID && got[2].Parent == got[1].PID && got[3].Parent == got[1].PID
	})
	if got[0].Identity != root || slices.ContainsFunc(got, func(s Stat) bool { return s.PID == left }) {
		t.Errorf("%v, of which %d has left", got, left)
	}
	if pids, err := Children(root.PID); err != nil || !slices.Equal(pids, []int{got[1].PID}) {
		t.Errorf("children %v, %v", pids, err)
	}
	other := root
	other.Start++
	if _, err := Tree(other); !errors.Is(err, ErrGone) {
		t.Errorf("the tree of a pid that was reused: %v", err)
	}
}

func TestTreeOfAnUnreapedRoot(t *testing.T) {
	id := sleeper(t)
	kill(t, id.PID, syscall.SIGKILL)
	waitForState(t, id.PID, Unreaped)
	if tree, err := Tree(id); err != nil || len(tree) != 1 || tree[0].State != Unreaped {
		t.Errorf("%+v, %v", tree, err)
	}
}

// A kernel that lists no children is not one whose processes have none.
func TestChildrenWithoutTheKernelsLists(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	f.put(1, fakeProcess{start: 1})
	f.must(os.MkdirAll(filepath.Join(f.root, "1", "task", "1"), 0o755))
	if pids, err := (procfs{f.root}).children(1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, %v", pids, err)
	}
}
