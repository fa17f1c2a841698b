package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// lockFile is the single-instance lock below the state directory.
const lockFile = "lamplighter.lock"

// errLocked: another background process of this user runs.
var errLocked = errors.New("it already runs")

// lockedError is errLocked with the file whose lock is taken.
type lockedError struct{ path string }

func (e lockedError) Error() string { return "another program holds the lock " + monitor.Clean(e.path) }
func (e lockedError) Unwrap() error { return errLocked }

// TakeLock takes the single-instance lock, in the state directory or, where
// that cannot be used, beside the control socket. The lock goes with the
// process, however that ends. The error Is errLocked, or says why there is no
// lock; one that comes with a lock says why it is not at its first place.
func TakeLock(places config.Places, stateUsable bool) (*flock.Flock, error) {
	var failed error
	for _, place := range lockPlaces(places, stateUsable) {
		lock, err := place.try()
		switch {
		case errors.Is(err, errLocked):
			return nil, err
		case err == nil:
			return lock, failed
		case failed == nil:
			failed = fmt.Errorf("the single-instance lock cannot be taken: %w", err)
		default:
			failed = fmt.Errorf("%w; %w", failed, err)
		}
	}
	if failed == nil {
		failed = errors.New("the single-instance lock cannot be taken: there is no place for it")
	}
	return nil, failed
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
	lock, err := statefile.TryLock(p.path)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, lockedError{p.path}
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
	f, err := statefile.Open(lock.Path(), os.O_WRONLY, 0)
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

// LockHolder is the process that holds the lock at path, as far as is known:
// the pid that is written there, if that is a lamplighter; else 0. The file may
// be older than the process that has this pid by now.
func (p *Program) LockHolder(path string) int {
	pid := readPID(path)
	if pid <= 0 || pid == os.Getpid() {
		return 0
	}
	if info, err := p.Process(pid); err != nil || !api.IsProgram(info.Exe, p.Self) {
		return 0
	}
	return pid
}

func readPID(path string) int {
	const longest = 32
	text, err := statefile.Read(path, longest)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// HeldLock is the lock that a background process holds, "" for none. It makes no file.
// The error says that it cannot be told.
func HeldLock(places config.Places) (string, error) {
	return heldOf(lockPlaces(places, true), isLocked)
}

// heldOf is HeldLock of these places.
func heldOf(places []lockPlace, isLocked func(path string) (bool, error)) (string, error) {
	for _, place := range places {
		if _, err := os.Lstat(place.path); errors.Is(err, fs.ErrPermission) {
			return "", unknownLock(err, place.path)
		}
		if statefile.Check(place.path) != nil {
			continue // nobody takes a lock there
		}
		locked, err := isLocked(place.path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went meanwhile
		case err != nil:
			return "", unknownLock(err, place.path)
		case locked:
			return place.path, nil
		}
	}
	return "", nil
}

func unknownLock(err error, path string) error {
	return fmt.Errorf("whether lamplighter runs cannot be told: %w; quit it, remove that file, and do this again", statefile.Error(err, path))
}

// isLocked reports whether another has the lock of a file that is there.
func isLocked(path string) (bool, error) {
	lock, err := statefile.TryLock(path)
	if lock == nil {
		return err == nil, err
	}
	return false, lock.Close()
}
