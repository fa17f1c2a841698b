//go:build real

package registry

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/monitor/statefile"
)

// python is a command of the second writer in testdata/registry.py.
func python(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	bin, name := "bin", "python"
	if runtime.GOOS == "windows" {
		bin, name = "Scripts", "python.exe"
	}
	script := filepath.Join("testdata", "registry.py")
	cmd := exec.CommandContext(t.Context(), filepath.Join(serenatest.Tools(t), "venv", bin, name), append([]string{"-I", script}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// loads has Python read the registry and returns the pids it finds.
func loads(t *testing.T, dir string) string {
	t.Helper()
	out, err := python(t, "load", dir).Output()
	if err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, FileName))
		t.Fatalf("Python cannot load %s: %v", text, err)
	}
	return strings.TrimSpace(string(out))
}

// writer is a Mirror that does not serve, in a world in which everybody lives.
func writer(dir string) *Mirror {
	m := NewMirror(Options{Dir: dir, Found: func(int, int) {}, Event: func(monitor.Event) {}})
	m.look = everybody
	return m
}

// TestRealTwoWritersAtOnce: Python and we write one registry at the same time, and
// nobody's entry is lost. Each of these writes would be, if the lock were not
// honoured by both.
func TestRealTwoWritersAtOnce(t *testing.T) {
	const writers, each = 2, 20
	dir := t.TempDir()
	var running sync.WaitGroup
	var want []string
	for w := range writers {
		theirs, ours := 1000*(w+1), 1000*(w+11)
		for i := range each {
			want = append(want, fmt.Sprint(theirs+i), fmt.Sprint(ours+i))
		}
		cmd := python(t, "write", dir, fmt.Sprint(theirs), fmt.Sprint(each))
		running.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("Python: %v", err)
			}
		})
		m := writer(dir)
		running.Go(func() {
			for i := range each {
				m.want = []registration{reg(ours+i, 24282)}
				for { // who asks now and then may have to wait for long
					err := m.write(t.Context(), time.Now())
					if err == nil {
						break
					}
					if t.Context().Err() != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	running.Wait()
	got := strings.Fields(loads(t, dir))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("entries %v", got)
	}
	text, err := os.ReadFile(filepath.Join(dir, FileName))
	var file struct{ Events int }
	if err != nil || json.Unmarshal(text, &file) != nil || file.Events != writers*each {
		t.Errorf("what we do not know was lost: %d, %v", file.Events, err)
	}
}

// TestRealLocks: what one holds the other does not get, again after Python has
// let go and removed the file.
func TestRealLocks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LockName)
	for range 2 {
		lock, err := statefile.TryLock(path)
		if err != nil || lock == nil {
			t.Fatal(lock, err)
		}
		for _, want := range []string{"taken", "free"} {
			if out, err := python(t, "try", dir).Output(); err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%q, %v, want %q", out, err, want)
			}
			if err := lock.Close(); want == "taken" && err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := python(t, "hold", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(out, new(string)); err != nil {
		t.Fatal(err)
	}
	if lock, err := statefile.TryLock(path); lock != nil || err != nil {
		t.Errorf("got what Python holds: %v, %v", lock, err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestRealPythonLoads: what we write, alone and after a change to Python's own
// record, is what a strict reader expects.
func TestRealPythonLoads(t *testing.T) {
	dir := t.TempDir()
	m := writer(dir)
	writes := func(want string) {
		t.Helper()
		if err := m.write(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := loads(t, dir); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for i, state := range []monitor.State{monitor.StateProject, monitor.StateNoProject, monitor.StateZombie} {
		r := reg(i+1, 24282+i)
		r.State, r.StartedAt = state, 1790000000
		if state == monitor.StateNoProject {
			r.ProjectName, r.ProjectRoot, r.Context, r.Modes = "", "", "", []string{}
		}
		m.want = append(m.want, r)
	}
	writes("1 2 3")
	if err := python(t, "write", dir, "1000", "1").Run(); err != nil {
		t.Fatal(err)
	}
	r := reg(1000, 1000)
	r.State, r.LastHeartbeat, r.StartedAt = monitor.StateZombie, secondsOf(time.Now().Add(time.Hour)), secondsOf(time.Now())
	m.want = append(m.want, r)
	writes("1 2 3 1000")
	m.want[3].ProjectName, m.want[3].ProjectRoot, m.want[3].State = "<ö>", "/ö", monitor.StateProject
	writes("1 2 3 1000")
	m.want = m.want[:3]
	m.look = func(pid int) (running, bool) { return running{uint64(pid) * 10, 1}, pid != 1000 }
	writes("1 2 3")
}
