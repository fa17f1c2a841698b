//go:build real

package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
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
		t.Fatalf("Python cannot load %s: %v", content(t, filepath.Join(dir, fileName)), err)
	}
	return strings.TrimSpace(string(out))
}

// TestTwoWritersAtOnce: Python and we write one registry at the same time, and
// nobody's entry is lost. Each of these writes would be, if the lock were not
// honoured by both.
func TestTwoWritersAtOnce(t *testing.T) {
	const writers, each = 3, 60
	dir := t.TempDir()
	var running sync.WaitGroup
	for w := range writers {
		cmd := python(t, "write", dir, fmt.Sprint(1000*(w+1)), fmt.Sprint(each))
		running.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("Python: %v", err)
			}
		})
		f := open(t, dir)
		f.limit = time.Hour // whoever asks now and then may have to wait for long
		running.Go(func() {
			for i := range each {
				r := reg(1000*(w+11)+i, 24282)
				if err := put(t.Context(), f, r); err != nil {
					t.Error(err)
				}
			}
		})
		running.Go(func() {
			for range each {
				if _, err := f.List(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	var want []string
	for _, base := range []int{1, 11} {
		for w := range writers {
			for i := range each {
				want = append(want, fmt.Sprint(1000*(w+base)+i))
			}
		}
	}
	if got := loads(t, dir); got != strings.Join(want, " ") {
		t.Errorf("entries are missing: %s", got)
	}
	var file struct{ Events int }
	if err := json.Unmarshal([]byte(content(t, filepath.Join(dir, fileName))), &file); err != nil || file.Events != writers*each {
		t.Errorf("what we do not know was lost: %d, %v", file.Events, err)
	}
	if got := names(t, dir); got != fileName {
		t.Errorf("left behind: %s", got)
	}
}

// TestPythonHolds: Python has the lock, and we wait, say so and try again.
func TestPythonHolds(t *testing.T) {
	f := open(t, t.TempDir())
	f.limit = 50 * time.Millisecond
	cmd := python(t, "hold", f.dir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(out, new(string)); err != nil {
		t.Fatal(err)
	}
	r := reg(7, 24282)
	if err := put(t.Context(), f, r); !errors.Is(err, ErrLocked) {
		t.Errorf("%v", err)
	}
	if exists(f.path) {
		t.Error("written to without the lock")
	}
	f.limit = time.Minute
	done := make(chan error)
	go func() { done <- put(t.Context(), f, r) }()
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestWeHold: what we lock is locked for Python, again after it has had the
// lock and removed the file.
func TestWeHold(t *testing.T) {
	f := open(t, t.TempDir())
	tries := func(want string) {
		t.Helper()
		out, err := python(t, "try", f.dir()).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	for range 2 {
		unlock, err := f.lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tries("taken")
		unlock()
		tries("free")
	}
}

// TestPythonLoads: what we write, alone and after a change to Python's own
// record, is what a strict reader expects.
func TestPythonLoads(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	f.now = time.Now
	states := []monitor.State{monitor.StateProject, monitor.StateNoProject, monitor.StateZombie}
	for i, state := range states {
		r := reg(i+1, 24282+i)
		r.State, r.StartedAt = state, time.Unix(1790000000, 0)
		if state == monitor.StateNoProject {
			r.ProjectName, r.ProjectRoot, r.Context, r.Modes = "", "", "", nil
		}
		if err := put(t.Context(), f, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := python(t, "write", dir, "1000", "1").Run(); err != nil {
		t.Fatal(err)
	}
	r := reg(1000, 1000)
	r.State, r.LastHeartbeat, r.StartedAt = monitor.StateZombie, time.Now().Add(time.Hour), time.Now()
	if err := put(t.Context(), f, r); err != nil {
		t.Fatal(err)
	}
	r.ProjectName, r.ProjectRoot, r.State = "<ö>", "/ö", monitor.StateProject
	if err := put(t.Context(), f, r); err != nil {
		t.Fatal(err)
	}
	if got := loads(t, dir); got != "1 2 3 1000" {
		t.Errorf("%s", got)
	}
	f.look = func(pid int) (alive, bool) {
		if pid == r.PID {
			return alive{}, false
		}
		return everybody(pid)
	}
	if _, err := f.sync(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := loads(t, dir); got != "1 2 3" {
		t.Errorf("%s", got)
	}
}
