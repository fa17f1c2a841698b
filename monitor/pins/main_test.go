package pins

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"lamplighter/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what a store knows of the machine.
type world struct {
	mu     sync.Mutex
	boot   string
	broken error
	dead   map[monitor.Identity]bool
}

func (w *world) lives(id monitor.Identity) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.dead[id]
}

func (w *world) kill(id monitor.Identity) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead == nil {
		w.dead = make(map[monitor.Identity]bool)
	}
	w.dead[id] = true
}

// open opens a store, and what it logs.
func (w *world) open(path string) (*Store, *bytes.Buffer) {
	var said bytes.Buffer
	return open(path, slog.New(slog.NewTextHandler(&said, nil)), w.boot, w.broken, w.lives), &said
}

func who(pid int) monitor.Identity { return monitor.Identity{PID: pid, Start: 7} }

func fileIn(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "pins.json") }

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func names(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	slices.Sort(list)
	return list
}

func pin(t testing.TB, s *Store, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := s.Set(who(pid), true); err != nil {
			t.Fatal(err)
		}
	}
}

// holds checks who is pinned, of the pids from 1 to 20.
func holds(t testing.TB, s *Store, pids ...int) {
	t.Helper()
	var got []int
	for pid := 1; pid <= 20; pid++ {
		if s.Pinned(who(pid)) {
			got = append(got, pid)
		}
	}
	if !slices.Equal(got, pids) {
		t.Errorf("pinned are %v, want %v", got, pids)
	}
}
