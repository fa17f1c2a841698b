//go:build unix

package gitwork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// hold gives git, and with that all processes that it starts, a shared lock on a
// directory, which goes with the last of them: flock(2). letGo ends it for all of
// them, so that one that stays behind, such as a keeper of passwords, is not waited
// for. Where the directory cannot be locked git goes without.
func hold(dir string, cmd *exec.Cmd) (letGo func()) {
	if dir == "" {
		return func() {}
	}
	held, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	if err := flock(held, unix.LOCK_SH|unix.LOCK_NB); err != nil {
		_ = held.Close()
		return func() {}
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, held)
	return func() {
		_ = flock(held, unix.LOCK_UN)
		_ = held.Close()
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// When it is looked again whether git has ended, and how long that is waited for.
const (
	gonePause = 5 * time.Millisecond
	goneTime  = 2 * leaveTime
)

// AwaitGit waits until no git that was started Holding the directory at dir is
// left, nor what that has started: of a process that was killed it may go on for a
// while. It is no error when there is no such directory.
func AwaitGit(ctx context.Context, dir string) error {
	held, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil // nobody holds it, or it cannot be told
	}
	defer held.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, goneTime, errors.New("git is still at work there"))
	defer cancel()
	for {
		err := flock(held, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil // what cannot be locked was not
		}
		select {
		case <-time.After(gonePause):
		case <-ctx.Done():
			return fmt.Errorf("waiting for git in %s: %w", monitor.Clean(dir), context.Cause(ctx))
		}
	}
}
