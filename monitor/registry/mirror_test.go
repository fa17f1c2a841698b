package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// world is a Mirror at work on a directory, in a bubble of testing/synctest.
type world struct {
	t      *testing.T
	dir    string
	path   string
	show   chan *monitor.Snapshot
	mu     sync.Mutex // held by the test, but while it waits
	dead   map[int]bool
	found  []string
	pruned []int
	warned []string
	end    context.CancelFunc
	ended  chan error
}

func newWorld(t *testing.T, dir string) (*world, *Mirror) {
	w := &world{t: t, dir: dir, path: filepath.Join(dir, FileName), show: make(chan *monitor.Snapshot, 1), dead: map[int]bool{}, ended: make(chan error, 1)}
	m := NewMirror(Options{
		Dir:       dir,
		Subscribe: func() (<-chan *monitor.Snapshot, func()) { return w.show, func() {} },
		Found:     func(pid, port int) { w.told(func() { w.found = append(w.found, fmt.Sprint(pid, " ", port)) }) },
		Event:     func(e monitor.Event) { w.told(func() { w.pruned = append(w.pruned, e.PID) }) },
		Warn:      func(list ...string) { w.told(func() { w.warned = list }) },
	})
	m.look = func(pid int) (running, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return running{uint64(pid) * 10, 1}, !w.dead[pid]
	}
	return w, m
}

func (w *world) told(keep func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	keep()
}

// mirrored runs a test with a Mirror that serves.
func mirrored(t *testing.T, dir func() string, test func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t, dir())
		ctx, cancel := context.WithCancel(t.Context())
		w.end = cancel
		go func() { w.ended <- m.Serve(ctx) }()
		w.mu.Lock()
		w.after(0)
		test(w)
		w.mu.Unlock()
		cancel()
		if err := <-w.ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func (w *world) shows(list ...monitor.Instance) {
	s := &monitor.Snapshot{At: time.Now()}
	for _, in := range list {
		s.Instances = append(s.Instances, &in)
	}
	w.show <- s
	w.after(soon)
}

func (w *world) after(d time.Duration) {
	w.mu.Unlock()
	defer w.mu.Lock()
	time.Sleep(d)
	synctest.Wait()
}

func instance(pid int) monitor.Instance {
	return monitor.Instance{
		Identity: monitor.Identity{PID: pid, Start: uint64(pid) * 10}, Kind: monitor.KindSerena, Port: 24282 + pid,
		State: monitor.StateProject, ProjectName: "lamp", ProjectRoot: "/w/lamp",
		StartedAt: time.Unix(900000000, 0), LastHeartbeat: time.Now(),
	}
}

func (w *world) content() string {
	w.t.Helper()
	data, err := os.ReadFile(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) wants(pids ...int) {
	w.t.Helper()
	list, err := List(w.dir)
	var got []int
	for _, e := range list {
		got = append(got, e.PID)
	}
	if err != nil || !slices.Equal(got, pids) {
		w.t.Errorf("entries %v, %v, want %v", got, err, pids)
	}
}

// names are what lies in the directory, the lock aside.
func (w *world) names() []string {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != LockName {
			names = append(names, e.Name())
		}
	}
	return names
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestMirror(t *testing.T) {
	mirrored(t, func() string { return filepath.Join(t.TempDir(), "not", "there") }, func(w *world) {
		other, starting, parked, unreaped, noPort := instance(1), instance(2), instance(3), instance(4), instance(5)
		other.Kind = "memory"
		starting.State = monitor.StateStarting
		parked.State = monitor.StateParked
		unreaped.State, unreaped.Cause = monitor.StateZombie, monitor.CauseDefunct
		noPort.Port = 0
		w.shows(other, starting, parked, unreaped, noPort)
		w.after(beatEvery)
		if exists(w.dir) {
			t.Fatal("something was made although nothing is to be registered")
		}
		w.shows(instance(7), instance(8))
		w.wants(7, 8)
		changed := instance(8)
		changed.ProjectName, changed.State = "", monitor.StateNoProject
		w.shows(instance(7), changed)
		if !strings.Contains(w.content(), "live_no_project") {
			t.Error(w.content())
		}
		w.dead[7] = true
		w.shows(changed)
		w.wants(8)
		if names := w.names(); len(names) != 1 || len(w.found)+len(w.pruned)+len(w.warned) > 0 {
			t.Errorf("left behind %v, found %v, pruned %v, warned %v", names, w.found, w.pruned, w.warned)
		}
	})
}

// Heartbeats alone are written once a minute.
func TestMirrorHeartbeats(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		w.shows(instance(7))
		first := w.content()
		for range 5 {
			w.shows(instance(7))
			w.after(lookEvery - soon)
		}
		if w.content() != first {
			t.Error("a heartbeat was written early")
		}
		w.shows(instance(7))
		w.after(2 * lookEvery)
		if w.content() == first {
			t.Error("no heartbeat was written in a minute")
		}
	})
}

// What has gone just before the end is taken out.
func TestMirrorEnds(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		w.shows(instance(7), instance(8))
		w.dead[7] = true
		w.show <- &monitor.Snapshot{At: time.Now(), Instances: []*monitor.Instance{new(instance(8))}}
		w.after(0)
		w.end()
		w.after(0)
		w.wants(8)
	})
}

// Entries of others are told when the file has changed, and dead ones taken out
// when they are old, also while nothing of ours runs.
func TestMirrorOfOthers(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		beat := literal(secondsOf(time.Now()))
		write(t, w.path, `{"instances":{"8":{"port":24282,"last_heartbeat":`+beat+`},"9":{"port":24283,"last_heartbeat":`+beat+`}}}`)
		w.dead[9] = true
		w.after(lookEvery)
		want := []string{"8 24282", "9 24283"}
		if !slices.Equal(w.found, want) {
			t.Errorf("found %v", w.found)
		}
		w.after(heartbeatOld)
		w.wants(8)
		if !slices.Equal(w.found, want) || !slices.Equal(w.pruned, []int{9}) {
			t.Errorf("found %v, pruned %v", w.found, w.pruned)
		}
	})
}

// While another program holds the lock nothing is written, the user is told, and
// it is tried again.
func TestMirrorIsLockedOut(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		lock, err := statefile.TryLock(filepath.Join(w.dir, LockName))
		if err != nil {
			t.Fatal(err)
		}
		w.shows(instance(7))
		w.after(lockLimit)
		if exists(w.path) || len(w.warned) != 1 || !strings.Contains(w.warned[0], errLocked.Error()) {
			t.Errorf("warned %q", w.warned)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		w.after(lookEvery)
		w.wants(7)
		if len(w.warned) > 0 {
			t.Errorf("warned %q", w.warned)
		}
	})
}

// It does not wait long for a lock at the end: a process that ends is not given
// long.
func TestMirrorEndsLockedOut(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		w.shows(instance(7))
		lock, err := statefile.TryLock(filepath.Join(w.dir, LockName))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		w.show <- &monitor.Snapshot{At: time.Now()}
		w.after(0)
		w.end()
		w.mu.Unlock()
		defer w.mu.Lock()
		before := time.Now()
		if err := <-w.ended; time.Since(before) > endLimit {
			t.Errorf("it took %v: %v", time.Since(before), err)
		}
		w.ended <- context.Canceled
		w.wants(7)
	})
}

// A broken file is kept under another name, once an hour at most, as soon as there
// is something to write.
func TestMirrorSetsAside(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		write(t, w.path, "garbage")
		w.after(beatEvery)
		if names := w.names(); len(names) != 1 || w.content() != "garbage" {
			t.Errorf("%v", names)
		}
		w.shows(instance(7))
		w.wants(7)
		names := w.names()
		if len(names) != 2 || len(w.warned) != 1 || !strings.Contains(w.warned[0], names[1]) {
			t.Fatalf("%v, warned %q", names, w.warned)
		}
		if text, err := os.ReadFile(filepath.Join(w.dir, names[1])); err != nil || string(text) != "garbage" {
			t.Errorf("%q, %v", text, err)
		}
		write(t, w.path, "more garbage")
		w.after(lookEvery)
		if w.content() != "more garbage" || len(w.warned) != 2 {
			t.Errorf("warned %q", w.warned)
		}
		w.after(asideFor)
		w.wants(7)
		w.after(asideFor)
		if len(w.warned) > 0 {
			t.Errorf("warned %q", w.warned)
		}
	})
}

// What is no file is left alone, and the user is told.
func TestMirrorOfNoFile(t *testing.T) {
	mirrored(t, t.TempDir, func(w *world) {
		if err := os.Mkdir(w.path, 0o700); err != nil {
			t.Fatal(err)
		}
		w.shows(instance(7))
		if len(w.warned) != 1 || !strings.Contains(w.warned[0], "a directory, not a file") || len(w.names()) != 1 {
			t.Errorf("%v, warned %q", w.names(), w.warned)
		}
	})
}
