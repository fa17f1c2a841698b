// Package inuse finds the processes that work inside a directory: that are in it,
// run a program of it, or have a file of it open.
//
// What it can see differs. Linux shows working and root directories, programs,
// open and mapped files of all processes of our user, in whatever mount namespace
// they are, and of everybody to root. macOS is asked through lsof(8). Windows shows
// working directories and programs only; but there a directory in which something
// is open cannot be renamed, so whoever wants to remove one tries that first.
//
// A process that cannot be looked at (another user's, or one of ours that may
// not be traced, such as ssh-agent) does not count as working inside: else nothing
// could ever be removed. Only where its command line names something in the
// directory does it count. A shell from which such a program was started counts by
// itself.
//
// Nothing is ended or removed here, and whether somebody who works inside stands
// against that is decided in app/workspace.
package inuse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Process is one that works inside a directory.
type Process struct {
	PID  int
	Name string // as the system names it, not cleaned
	How  string // "works in DIR", "has FILE open", "runs FILE"; not cleaned
}

// In are the processes that work inside dir, whoever's they are, as far as the
// system shows them, by their pids; our own process is left out unless it has a
// file open there. In a directory that is not there nobody works. The error tells
// that nobody could look.
func In(ctx context.Context, dir string) ([]Process, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	var path string
	if err == nil {
		path, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	var found []Process
	if err == nil {
		found, err = settled(ctx, func() ([]Process, error) { return within(ctx, path) }, ownName(), lookAgain)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for processes in %q: %w", dir, err)
	}
	return found, nil
}

// lookAgain is between two looks at processes that may be about to become others.
const lookAgain = 100 * time.Millisecond

// mostLooks bounds how often is looked.
const mostLooks = 4

// settled looks again while nobody but processes of our own program are found: a
// child that has not begun its program yet has all open that its parent has, for a
// moment. own is how the system names us. Who works inside for longer stays found.
func settled(ctx context.Context, look func() ([]Process, error), own string, pause time.Duration) ([]Process, error) {
	for n := 1; ; n++ {
		found, err := look()
		other := func(p Process) bool { return p.Name != own }
		if err != nil || len(found) == 0 || n == mostLooks || slices.ContainsFunc(found, other) {
			return found, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// ownName is how the system names processes of our program. Linux cuts names
// after 15 bytes.
func ownName() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	name := filepath.Base(path)
	if runtime.GOOS == "linux" {
		name = name[:min(len(name), 15)]
	}
	return name
}

// The ways in which a process works inside, by what is in the way most.
func worksIn(dir string) string  { return "works in " + dir }
func runs(file string) string    { return "runs " + file }
func hasOpen(file string) string { return "has " + file + " open" }
func rootedIn(dir string) string { return "has its root in " + dir }
