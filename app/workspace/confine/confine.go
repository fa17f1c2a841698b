// Package confine runs a job that can write only where it is to: in user, mount
// and process namespaces of Linux. Elsewhere, and where the kernel allows none,
// it says so.
package confine

import (
	"context"
	"errors"
	"io"
)

// ErrUnavailable is wrapped with why nothing can be confined here.
var ErrUnavailable = errors.New("jobs cannot be confined here")

// Spec is what to run, and where it may write.
type Spec struct {
	Dir      string // working directory
	Command  []string
	Env      []string
	Writable []string // directories, absolute
	ReadOnly []string // directories inside of Writable that may only be read
	Hidden   []string // directories that are empty to the job
	TempDir  string   // is /tmp to the job
	Confine  bool     // false: only ReadOnly holds
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
}

// Check tells whether jobs can be confined; the error Is ErrUnavailable.
func Check(ctx context.Context) error { return ErrUnavailable }

// Run runs the job to its end, with all that it has started, and says with which
// status it ended, 128+N for signal N.
func Run(ctx context.Context, s Spec) (status int, err error) { return 0, ErrUnavailable }

// Main is what the program does when it was started by Run to set the job up:
// whether it was is told by inside. It does not return then unless it fails.
func Main(args []string) (inside bool, status int) { return false, 0 }
