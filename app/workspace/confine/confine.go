// Package confine runs a job that can write only where it is to: in user, mount,
// process and IPC namespaces of Linux. Elsewhere, and where the kernel allows
// none, it says so.
//
// Run starts our own program again, which has to call Main first of all. What is
// started so sets the namespaces up (setup_linux.go), gives up all that it could
// do there (drop_linux.go), and becomes the process that all others of the job
// live and die with (init_linux.go).
//
// A confined job sees the files of its user and can change none but those in
// Writable and its devices. It sees no process but its own, and reaches no socket
// that is a file and was there when it began, except of those that names are
// looked up with. The network is that of its user.
//
// Sources: namespaces(7), user_namespaces(7), mount_namespaces(7),
// mount_setattr(2), capabilities(7), landlock(7), seccomp(2).
package confine

import (
	"errors"
	"io"
	"os"
)

// ErrUnavailable is wrapped with why nothing can be confined here.
var ErrUnavailable = errors.New("jobs cannot be confined here")

// ErrNotStarted is wrapped with what stands against starting the command itself;
// with fs.ErrNotExist there is no such command.
var ErrNotStarted = errors.New("the command cannot be started")

// Spec is what to run, and where it may write. All paths are absolute.
type Spec struct {
	Dir     string   // working directory
	Command []string // never empty
	Env     []string // NAME=VALUE, all that it has
	// Writable are directories. What is in Hidden can be written all the same where
	// it is in Writable too.
	Writable []string
	// ReadOnly are directories and files that may only be read, also where they are
	// in Writable, and that are seen where they are in Hidden. What is named deeper
	// in a path counts more in each of the three.
	ReadOnly []string
	Hidden   []string // directories that are empty to the job; those that are missing are left out
	TempDir  string   // is /tmp and /var/tmp to the job; "": these may only be read
	Confine  bool     // false: only ReadOnly holds
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	// Signals are passed on to the job. nil: none are.
	Signals <-chan os.Signal
}
