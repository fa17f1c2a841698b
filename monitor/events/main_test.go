package events

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// event is the n-th of a test, a second after the one before.
func event(n int) monitor.Event {
	return monitor.Event{
		At: noon.Add(time.Duration(n) * time.Second), Kind: monitor.EventStarted, ID: fmt.Sprintf("%d-7", n), PID: n,
		Label: fmt.Sprintf("2 - alpha %d", n), Detail: "by Codex",
	}
}

func line(n int) string { return string(encode(event(n))) }

func in(dir, name string) string { return filepath.Join(dir, name) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pids are those of the events, which number them.
func pids(list List) []int {
	var numbers []int
	for _, e := range list.Events {
		numbers = append(numbers, e.PID)
	}
	return numbers
}

func all(t *testing.T, dir string) List {
	t.Helper()
	list, err := Read(dir, Query{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// buffer may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
