package statefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Lock(t.Context(), path, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("no more time")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
	defer cancel()
	if lock, err := Lock(ctx, path, time.Millisecond); !errors.Is(err, why) || lock != nil {
		t.Errorf("while another has it: %v, %v", lock, err)
	}
	next := make(chan error)
	go func() {
		lock, err := Lock(t.Context(), path, time.Millisecond)
		if err == nil {
			err = lock.Close()
		}
		next <- err
	}()
	if runtime.GOOS != "windows" { // where a file that is open stays
		if err := os.Remove(path); err != nil { // then what is held is no lock any more
			t.Fatal(err)
		}
		if err := <-next; err != nil {
			t.Error(err)
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if err := <-next; err != nil {
		t.Error(err)
	}
}

func TestLockRefuses(t *testing.T) {
	dir := t.TempDir()
	if lock, err := Lock(t.Context(), dir, time.Millisecond); err == nil || lock != nil {
		t.Errorf("a directory: %v", lock)
	}
	if lock, err := Lock(t.Context(), filepath.Join(dir, "none", "lock"), time.Millisecond); err == nil || lock != nil {
		t.Errorf("no directory: %v", lock)
	}
}

func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		lock, err := TryLock(path)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := TryLock(path); other != nil || err != nil {
			t.Errorf("it was taken twice: %v", err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
