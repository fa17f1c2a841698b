package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideWord is the first argument of our program where Run has started it.
const insideWord = "confine-inside"

// passedOn is what is added to the number of a signal that is for the job. The
// first process of a job cannot tell what comes from the terminal, which the job
// gets too, from what was sent to it alone.
const passedOn = 40

// statusWrong is that of a program that cannot do its work; the report says more.
const statusWrong = 126

// Main does the work of a program that Run has started, and inside tells whether
// that is so: then the program has to end at once with that status. It has to be
// called before anything else is done. args are those after the program's name.
func Main(args []string) (inside bool, status int) {
	if len(args) < 2 || args[0] != insideWord {
		return false, 0
	}
	// What is given up is given up by a thread, and what it runs has it no more.
	runtime.LockOSThread()
	told := os.NewFile(reportFile, "report")
	var job bool
	var err error
	switch args[1] {
	case "set-up":
		job, err = begin(told)
	case "init":
		status, err = initialize(told, args[2:])
		job = true
	default:
		err = errors.New("this is not for calling by hand; see lamplighter workspace run --help")
	}
	if err == nil {
		return true, status
	}
	r := report{Job: job, Text: err.Error()}
	var start startError
	r.Start = errors.As(err, &start)
	if !errors.As(err, &r.Errno) && errors.Is(err, exec.ErrNotFound) {
		r.Errno = unix.ENOENT
	}
	if json.NewEncoder(told).Encode(r) != nil {
		fmt.Fprintln(os.Stderr, "lamplighter:", err) // nobody is told otherwise
	}
	return true, statusWrong
}

// startError is that of the command that is the job.
type startError struct{ error }

func (e startError) Unwrap() error { return e.error }

// begin sets the namespaces up and becomes the job, or its first process. job
// tells that what failed is the job.
func begin(told *os.File) (job bool, err error) {
	read := os.NewFile(orderFile, "order")
	data, err := io.ReadAll(read)
	if err != nil {
		return false, errors.New("this is not for calling by hand; see lamplighter workspace run --help")
	}
	read.Close()
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return false, fmt.Errorf("reading what to do: %w", err)
	}
	// A directory that somebody has left open for us is a way out.
	if err := unix.CloseRange(reportFile, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		if err := closeAll(); err != nil {
			return false, err
		}
	}
	if err := setUp(o); err != nil {
		return false, err
	}
	if !o.Root {
		if err := drop(o.Confine); err != nil {
			return false, err
		}
	}
	if err := os.Chdir(o.Dir); err != nil {
		return true, err
	}
	path, args := "/proc/self/exe", append([]string{"lamplighter", insideWord, "init"}, o.Command...)
	if o.Confine {
		if _, err := unix.FcntlInt(told.Fd(), unix.F_SETFD, 0); err != nil {
			return false, err
		}
	} else {
		if path, err = exec.LookPath(o.Command[0]); err != nil {
			return true, startError{err}
		}
		args = o.Command
	}
	err = &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, args, os.Environ())}
	if !o.Confine {
		err = startError{err}
	}
	return true, err
}

// closeAll is CloseRange for kernels before Linux 5.11.
func closeAll() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		var fd int
		if _, err := fmt.Sscan(entry.Name(), &fd); err == nil && fd >= reportFile {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// initialize is the first process of a job: it starts the job, passes signals on,
// and waits for whoever is left to it. With its end the kernel ends all others.
func initialize(told *os.File, command []string) (status int, err error) {
	unix.CloseOnExec(reportFile)
	if len(command) == 0 {
		return 0, errors.New("no command")
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2)
	for _, sig := range passable {
		signal.Notify(signals, sig+passedOn)
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return 0, startError{err}
	}
	pid, err := syscall.ForkExec(path, command, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, startError{&os.PathError{Op: "exec", Path: path, Err: err}}
	}
	told.Close()
	go func() {
		for sig := range signals {
			if sig, ok := forward(sig.(syscall.Signal)); ok {
				_ = syscall.Kill(pid, sig) // it is ours until it is waited for, and then we end
			}
		}
	}()
	for {
		var wait syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &wait, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case ended == pid && (wait.Exited() || wait.Signaled()):
			return waitStatus(wait), nil
		}
	}
}

// passable are the signals that Run passes on.
var passable = []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTERM}

// forward is the signal that the job gets for one that its first process has got.
func forward(sig syscall.Signal) (syscall.Signal, bool) {
	switch {
	case slices.Contains(passable, sig-passedOn):
		return sig - passedOn, true
	case sig == unix.SIGINT || sig == unix.SIGQUIT: // of the terminal, which the job has got too
		return 0, false
	}
	return sig, slices.Contains(passable, sig)
}
