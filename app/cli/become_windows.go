package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// become runs a program with our standard input and output, and returns the exit
// status that it ended with. It does not outlive us. args begins with the
// program's name.
func become(path string, args []string) (status int, err error) {
	if err := endTogether(); err != nil {
		return statusFailed, err
	}
	cmd := exec.Cmd{Path: path, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	return statusFine, err
}

// endTogether puts us, and whom we start from then on, into a job that ends all
// who are in it when its handle closes. That is left open, so that it closes when
// we end.
//
// Source: "Job Objects" of the Windows documentation; since Windows 8 jobs nest.
func endTogether() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("a job for it cannot be made: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err == nil {
		err = windows.AssignProcessToJobObject(job, windows.CurrentProcess())
	}
	if err != nil {
		windows.CloseHandle(job)
		return fmt.Errorf("a job for it cannot be made: %w", err)
	}
	return nil
}
