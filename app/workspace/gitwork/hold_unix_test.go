//go:build unix

package gitwork

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What git has started holds the place of a new worktree until it has ended.
func TestAwaitGit(t *testing.T) {
	r := repository(t)
	pipe := filepath.Join(temp(t), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.Top, ".gitattributes"), "*.go filter=slow\n")
	commit(t, r.Top, "slow")
	run(t, r.Top, "config", "filter.slow.smudge", "cat '"+pipe+"'")
	head, err := r.Resolve(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(temp(t), "place")
	if err := AwaitGit(t.Context(), place); err != nil {
		t.Errorf("nothing is there: %v", err)
	}
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	go func() {
		_, err := r.Holding(place).Add(t.Context(), place, "slow", head, nil)
		made <- err
	}()
	in, err := os.OpenFile(pipe, os.O_WRONLY, 0) // opens once the filter reads
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
	defer cancel()
	if err := AwaitGit(ctx, place); !errors.Is(err, why) {
		t.Errorf("while it works: %v", err)
	}
	awaited := make(chan error, 1)
	go func() { awaited <- AwaitGit(t.Context(), place) }()
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := <-made; err != nil {
		t.Error(err)
	}
	if err := <-awaited; err != nil {
		t.Error(err)
	}
}
