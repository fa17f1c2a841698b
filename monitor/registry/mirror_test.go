package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

// source is a watch whose snapshots the test makes.
type source chan *monitor.Snapshot

func (s source) Subscribe() (<-chan *monitor.Snapshot, func()) { return s, func() {} }

// world is a Mirror at work on a folder.
type world struct {
	t      *testing.T
	file   *File
	source source

	mu     sync.Mutex
	dead   map[int]bool
	found  []string
	warned []string
	writes int
	cancel context.CancelFunc
	done   chan error
}

func begin(t *testing.T, dir string, every time.Duration) *world {
	w := &world{t: t, file: open(t, dir), source: make(source, 1), dead: map[int]bool{}, done: make(chan error, 1)}
	w.file.now = time.Now
	w.file.limit = 20 * time.Millisecond
	w.file.look = func(pid int) (alive, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return alive{uint64(pid) * 10, at(0)}, !w.dead[pid]
	}
	w.file.write = func(file *os.File, data []byte) error {
		if strings.Contains(file.Name(), fileName) {
			w.mu.Lock()
			w.writes++
			w.mu.Unlock()
		}
		return writeSynced(file, data)
	}
	m := NewMirror(MirrorOptions{
		File: w.file, Source: w.source,
		Found: func(pid, port int, project string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.found = append(w.found, fmt.Sprintf("%d %d %s", pid, port, project))
		},
		Warn: func(list []string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.warned = list
		},
	})
	m.times = times{soon: time.Millisecond, read: time.Millisecond, every: every, again: []time.Duration{time.Millisecond}, aside: time.Hour, end: 20 * time.Second}
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	go func() { w.done <- m.Serve(ctx) }()
	t.Cleanup(w.end)
	return w
}

func (w *world) end() {
	if w.cancel == nil {
		return
	}
	w.cancel()
	w.cancel = nil
	if err := <-w.done; !errors.Is(err, context.Canceled) {
		w.t.Errorf("Serve: %v", err)
	}
}

func (w *world) show(list ...monitor.Instance) {
	w.source <- &monitor.Snapshot{Seq: 1, At: time.Now(), Instances: list}
}

func instance(pid int) monitor.Instance {
	return monitor.Instance{
		Identity: monitor.Identity{PID: pid, Start: uint64(pid) * 10}, Kind: monitor.KindSerena, Port: 24282 + pid,
		State: monitor.StateProject, ProjectName: "lamp", ProjectRoot: "/w/lamp",
		StartedAt: time.Now().Add(-time.Hour).Truncate(time.Second), LastHeartbeat: time.Now(),
	}
}

// until waits for a condition, under the lock of the world.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		w.mu.Lock()
		ok := holds()
		w.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: it does not happen", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// pids are those of the entries in the file, "" when there is none.
func (w *world) pids() string {
	data, err := os.ReadFile(w.file.path)
	if err != nil {
		return ""
	}
	d, err := parseDocument(data)
	if err != nil {
		return err.Error()
	}
	var list []int
	for _, e := range d.entries() {
		list = append(list, e.PID)
	}
	return fmt.Sprint(list)
}

func (w *world) untilPIDs(want string) {
	w.t.Helper()
	w.until("entries "+want, func() bool { return w.pids() == want })
}

func TestMirror(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "serena")
	w := begin(t, dir, time.Hour)
	w.show()
	generic, starting, parked, unreaped, noPort := instance(1), instance(2), instance(3), instance(4), instance(5)
	generic.Kind = "memory"
	starting.State = monitor.StateStarting
	parked.State = monitor.StateParked
	unreaped.State, unreaped.Cause = monitor.StateZombie, monitor.CauseDefunct
	noPort.Port = 0
	w.show(generic, starting, parked, unreaped, noPort)
	w.show() // taken once the one before has been dealt with
	if exists(dir) {
		t.Fatal("something was made although nothing is to be registered")
	}
	w.show(instance(7), instance(8))
	w.untilPIDs("[7 8]")

	changed := instance(8)
	changed.ProjectName, changed.State = "", monitor.StateNoProject
	w.show(instance(7), changed)
	w.until("the state is written", func() bool { return strings.Contains(content(t, w.file.path), "live_no_project") })

	w.mu.Lock()
	w.dead[7] = true
	w.mu.Unlock()
	w.show(changed)
	w.untilPIDs("[8]")
	w.end()
	if got := w.pids(); got != "[8]" {
		t.Errorf("after the end: %s", got)
	}
	if len(w.found) > 0 {
		t.Errorf("our own writing was told: %v", w.found)
	}
	if got := names(t, dir); got != fileName {
		t.Errorf("left behind: %s", got)
	}
}

// TestMirrorQuiet: heartbeats alone are not written before their time, and
// afterwards by one writing.
func TestMirrorQuiet(t *testing.T) {
	w := begin(t, t.TempDir(), time.Hour)
	in := instance(7)
	w.show(in)
	w.untilPIDs("[7]")
	for i := range 20 {
		in.LastHeartbeat = time.Now().Add(time.Duration(i) * time.Minute)
		w.show(in)
	}
	w.end()
	if w.writes != 1 {
		t.Errorf("written %d times", w.writes)
	}
}

func TestMirrorHeartbeat(t *testing.T) {
	w := begin(t, t.TempDir(), 0)
	in := instance(7)
	w.show(in)
	w.untilPIDs("[7]")
	before := content(t, w.file.path)
	in.LastHeartbeat = in.LastHeartbeat.Add(time.Second) // not worth writing
	w.show(in)
	w.show(in)
	if got := content(t, w.file.path); got != before {
		t.Error("written for a second")
	}
	in.LastHeartbeat = in.LastHeartbeat.Add(time.Minute)
	w.show(in)
	w.until("the heartbeat is written", func() bool { return content(t, w.file.path) != before })
	w.end()
	if w.writes != 2 {
		t.Errorf("written %d times", w.writes)
	}
}

// TestMirrorGoneAtEnd: what has gone just before the end is taken out.
func TestMirrorGoneAtEnd(t *testing.T) {
	f := open(t, t.TempDir())
	f.look = nobody
	register(t, f, 7)
	s := &session{Mirror: NewMirror(MirrorOptions{File: f}), writeAt: time.Now().Add(time.Hour)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.end(ctx)
	if list, err := f.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestMirrorEndsWhileLocked: it does not wait long for somebody who holds the
// lock, because a process that ends is not given long.
func TestMirrorEndsWhileLocked(t *testing.T) {
	f := open(t, t.TempDir())
	f.look = nobody
	f.limit = time.Hour
	register(t, f, 7)
	other := flock.New(f.lockPath())
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer other.Close()
	m := NewMirror(MirrorOptions{File: f})
	if m.times.end <= 0 || m.times.end > 300*time.Millisecond {
		t.Errorf("it may take %v", m.times.end)
	}
	s := &session{Mirror: m, writeAt: time.Now().Add(time.Hour)}
	s.end(t.Context())
	if !strings.Contains(content(t, f.path), `"7"`) {
		t.Error("written without the lock")
	}
	if s.failures == 0 {
		t.Error("nobody is told")
	}
}

// TestMirrorFinds: what others write is told once, when it is new, and alive.
func TestMirrorFinds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "serena")
	w := begin(t, dir, 5*time.Millisecond) // the folder appears later
	w.mu.Lock()
	w.dead[9] = true
	w.mu.Unlock()
	entry := func(pid, port int, project string, beat int) string {
		return fmt.Sprintf(`"%d":{"pid":%d,"port":%d,"project_name":%q,"started_at":1,"last_heartbeat":%d}`, pid, pid, port, project, beat)
	}
	put := func(entries ...string) {
		t.Helper()
		// Under the lock, as every writer: the mirror writes too.
		lock := flock.New(w.file.lockPath())
		w.until("the lock is free", func() bool { ok, err := lock.TryLock(); return ok && err == nil })
		temporary := filepath.Join(dir, "instances.tmp")
		write(t, temporary, `{"instances":{`+strings.Join(entries, ",")+`}}`)
		if err := errors.Join(plainfile.Rename(temporary, w.file.path), lock.Unlock()); err != nil {
			t.Fatal(err)
		}
	}
	untilFound := func(want ...string) {
		t.Helper()
		w.until(fmt.Sprintf("found %q", want), func() bool { return slices.Equal(w.found, want) })
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(entry(8, 24282, "a", 1), entry(9, 24283, "dead", 1), `"x":null`)
	untilFound("8 24282 a")
	put(entry(8, 24282, "a", 2), entry(9, 24283, "dead", 2)) // heartbeats are no news
	put(entry(8, 24282, "b", 3), entry(7, 24289, "known", 3))
	untilFound("8 24282 a", "8 24282 b", "7 24289 known")

	// From now on 7 is ours, and what we write ourselves is not told.
	w.show(instance(7))
	w.until("ours is right", func() bool { return strings.Contains(content(t, w.file.path), "lamp") })
	put(entry(8, 24282, "b", 4), entry(7, 24289, "another name", 4), entry(6, 24285, "c", 4))
	untilFound("8 24282 a", "8 24282 b", "7 24289 known", "6 24285 c")
}

func TestMirrorWarns(t *testing.T) {
	w := begin(t, t.TempDir(), time.Hour)
	other := flock.New(w.file.lockPath())
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	w.show(instance(7))
	w.until("a warning", func() bool { return len(w.warned) == 1 && strings.Contains(w.warned[0], ErrLocked.Error()) })
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	w.untilPIDs("[7]")
	w.until("no warning", func() bool { return len(w.warned) == 0 })

	write(t, w.file.path, "garbage")
	w.untilPIDs("[7]") // set aside soon, not at the next heartbeat
	w.until("a message", func() bool { return len(w.warned) == 1 && strings.Contains(w.warned[0], ".corrupt-") })
}

// TestMirrorGivesUp: what could not be written is not tried any more when it
// is not there any more.
func TestMirrorGivesUp(t *testing.T) {
	w := begin(t, t.TempDir(), time.Hour)
	other := flock.New(w.file.lockPath())
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer other.Close()
	w.show(instance(7))
	w.until("a warning", func() bool { return len(w.warned) == 1 })
	w.show()
	w.until("no warning", func() bool { return len(w.warned) == 0 })
	if exists(w.file.path) {
		t.Error("written to without the lock")
	}
}
