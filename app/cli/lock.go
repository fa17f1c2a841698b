package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

// lockFile is the single-instance lock below the state directory.
const lockFile = "lamplighter.lock"

// errLocked: another background process of this user runs.
var errLocked = errors.New("it already runs")

// lockedError is errLocked with the file whose lock is taken.
type lockedError struct{ path string }

func (e lockedError) Error() string { return "another program holds the lock " + monitor.Clean(e.path) }
func (e lockedError) Unwrap() error { return errLocked }

// takeLock takes the single-instance lock, in the state directory or, where
// that cannot be used, beside the control socket. The lock goes with the
// process, however that ends. The error Is errLocked, or says why there is no
// lock; one that comes with a lock says why it is not at its first place.
func takeLock(places config.Places, stateUsable bool) (*flock.Flock, error) {
	var failed []error
	for _, place := range lockPlaces(places, stateUsable) {
		lock, err := place.try()
		switch {
		case errors.Is(err, errLocked):
			return nil, err
		case err == nil && len(failed) > 0:
			return lock, lockError(failed)
		case err == nil:
			return lock, nil
		}
		failed = append(failed, err)
	}
	if len(failed) == 0 {
		failed = append(failed, errors.New("there is no place for it"))
	}
	return nil, lockError(failed)
}

func lockError(failed []error) error {
	err := failed[0]
	for _, next := range failed[1:] {
		err = fmt.Errorf("%w; %w", err, next)
	}
	return fmt.Errorf("the single-instance lock cannot be taken: %w", err)
}

// lockPlace is a place for the lock, and the variable that sets it.
type lockPlace struct{ path, variable string }

func lockPlaces(places config.Places, stateUsable bool) []lockPlace {
	var list []lockPlace
	if stateUsable && places.StateDir != "" {
		list = append(list, lockPlace{filepath.Join(places.StateDir, lockFile), "LAMPLIGHTER_STATE_DIR"})
	}
	if places.LockFallback != "" {
		list = append(list, lockPlace{places.LockFallback, "LAMPLIGHTER_CONTROL_SOCKET"})
	}
	return list
}

// try takes the lock there. Somebody else must not be able to make us write
// into another file, so the directory is judged and no link is followed.
func (p lockPlace) try() (*flock.Flock, error) {
	if err := config.MakePrivate(filepath.Dir(p.path), p.variable); err != nil {
		return nil, err
	}
	if err := plainfile.Check(p.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lock := flock.New(p.path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|plainfile.NoFollow), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, plainfile.Error(err, p.path)
	}
	if !ok {
		return nil, lockedError{p.path}
	}
	// What lay there may have been replaced before it was opened.
	if err := plainfile.CheckOpened(lock, p.path); err != nil {
		lock.Close()
		return nil, err
	}
	// The pid is a courtesy to whoever finds the lock taken while the control
	// socket is silent; where a locked file cannot be written (Windows, a
	// read-only directory) it is missing.
	_ = notePID(lock)
	return lock, nil
}

// notePID writes our pid into the file that lock holds, and into no other that
// may lie at its path by now.
func notePID(lock *flock.Flock) error {
	f, err := plainfile.Open(lock.Path(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	held, err := lock.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(opened, held) {
		return errors.New("the lock file was replaced")
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return err
}

// lockHolder is the process that holds the lock at path, as far as is known:
// the pid that is written there, if that is a lamplighter; else 0. The file may
// be older than the process that has this pid by now.
func (p *program) lockHolder(path string) int {
	pid := readPID(path)
	if pid <= 0 || pid == os.Getpid() {
		return 0
	}
	if info, err := p.process(pid); err != nil || !api.IsProgram(info.Exe, p.self) {
		return 0
	}
	return pid
}

func readPID(path string) int {
	f, err := plainfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	const longest = 32
	text, err := io.ReadAll(io.LimitReader(f, longest))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}
