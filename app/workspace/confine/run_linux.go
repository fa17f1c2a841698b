package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// order is what the program that sets a job up is told.
type order struct {
	Dir     string   `json:"dir"`
	Command []string `json:"command"` // none: only try
	Confine bool     `json:"confine"`
	Root    bool     `json:"root"` // without a user namespace: nothing is given up
	Places  []place  `json:"places"`
}

// report is what it tells when it fails.
type report struct {
	Job   bool          `json:"job"`   // the job could not be started; else it could not be confined
	Start bool          `json:"start"` // because of the command
	Text  string        `json:"error"`
	Errno syscall.Errno `json:"errno"`
}

// The descriptors of the program that sets a job up, and of the first process.
const (
	orderFile  = 3
	reportFile = 4
)

// Run runs the job to its end, with all that it has started when it is confined,
// and says with which status it ended, 128+N for signal N. When ctx ends it is
// killed. The error tells that it could not be run; it Is ErrUnavailable when
// nothing can be confined here.
func Run(ctx context.Context, s Spec) (status int, err error) {
	places, err := s.places(os.Getenv, sockets())
	if err != nil {
		return 0, fmt.Errorf("confining a job: %w", err)
	}
	o := order{Dir: s.Dir, Command: s.Command, Confine: s.Confine, Root: !s.Confine && os.Geteuid() == 0, Places: places}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", insideWord, "set-up")
	cmd.Args[0] = "lamplighter"
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Env, s.Stdin, s.Stdout, s.Stderr
	if cmd.Env == nil {
		cmd.Env = []string{} // nil is our own
	}
	cmd.SysProcAttr = attributes(o)
	told, err := start(cmd, o)
	if err != nil {
		return 0, unavailable(err)
	}
	if told != nil {
		_ = cmd.Wait() // its status tells the same
		if told.Start {
			return 0, fmt.Errorf("%w: %w", ErrNotStarted, told)
		}
		if told.Job {
			return 0, fmt.Errorf("running the job: %w", told)
		}
		return 0, unavailable(told)
	}
	ended := make(chan struct{})
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		pass(s.Signals, ended, func(sig syscall.Signal) {
			if o.Confine {
				sig += passedOn
			}
			_ = cmd.Process.Signal(sig) // it may have ended
		})
	}()
	err = cmd.Wait()
	close(ended)
	<-passed
	return statusOf(cmd, err)
}

// attributes are the namespaces of a job.
func attributes(o order) *syscall.SysProcAttr {
	if o.Root {
		return &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	}
	attr := &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}, // to set up
	}
	if o.Confine {
		attr.Cloneflags |= unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	}
	return attr
}

// start starts the program that sets up, and returns what it tells when that
// fails; nil: the job runs.
func start(cmd *exec.Cmd, o order) (*report, error) {
	orderRead, orderWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer orderWrite.Close()
	defer orderRead.Close()
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reportRead.Close()
	defer reportWrite.Close()
	cmd.ExtraFiles = []*os.File{orderRead, reportWrite}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// What it does not read it has no use for: it tells why, or has died.
	orderRead.Close()
	reportWrite.Close()
	_ = json.NewEncoder(orderWrite).Encode(o)
	orderWrite.Close()
	data, err := io.ReadAll(reportRead)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	var told report
	if err := json.Unmarshal(data, &told); err != nil {
		told = report{Text: "the program that sets it up has failed"}
	}
	return &told, nil
}

// Error is what failed.
func (r *report) Error() string { return r.Text }

// Unwrap is what the system said.
func (r *report) Unwrap() error { return r.Errno }

// pass passes signals on until the job has ended.
func pass(signals <-chan os.Signal, ended <-chan struct{}, send func(syscall.Signal)) {
	for {
		select {
		case sig, open := <-signals:
			if !open {
				signals = nil
			} else if sig, ok := sig.(syscall.Signal); ok {
				send(sig)
			}
		case <-ended:
			return
		}
	}
}

// statusOf is the status that a job has ended with.
func statusOf(cmd *exec.Cmd, err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("running the job: %w", err)
	}
	wait := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return waitStatus(wait), nil
}

func waitStatus(wait syscall.WaitStatus) int {
	if wait.Signaled() {
		return 128 + int(wait.Signal())
	}
	return wait.ExitStatus()
}
