package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func TestNewsOfLogFiles(t *testing.T) {
	home := filepath.Join(t.TempDir(), ".serena")
	ctx, cancel := context.WithCancel(t.Context())
	pids, ended := make(chan int, 1), make(chan error, 1)
	go func() { ended <- serveNews(ctx, home, func(pid int) { pids <- pid }) }()
	today := filepath.Join(home, "logs", time.Now().Format(time.DateOnly))

	// The folders come one after the other; a file made before its folder is
	// watched is heard of by nobody, so it is made again.
	pid := 100
	hear := func(dir string) {
		t.Helper()
		deadline := time.After(patience)
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for {
			pid++
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "mcp_x_"+strconv.Itoa(pid)+".txt"), []byte("line\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			select {
			case got := <-pids:
				if got > pid {
					t.Fatalf("heard of %d, made %d", got, pid)
				}
				return
			case err := <-ended:
				t.Fatal(err)
			case <-deadline:
				t.Fatal("never heard of")
			case <-again.C:
			}
		}
	}
	hear(today)
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	hear(today)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPidOfLog(t *testing.T) {
	for name, want := range map[string]int{
		"mcp_20261121-101500_4711.txt": 4711, "x_1.txt": 1, "mcp_0.txt": 0, "mcp_-4.txt": 0, "_.txt": 0,
		"4711.txt": 0, "mcp_4711.log": 0, "": 0, "mcp_99999999999999999999.txt": 0, "2026-11-21": 0,
	} {
		if pid, ok := pidOfLog(name); ok != (want > 0) || (ok && pid != want) {
			t.Errorf("%q: %d, %v", name, pid, ok)
		}
	}
}
