package main

import (
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/windows"
)

// onStop does nothing: Windows has no signals. Whoever ends us closes the job of
// the command.
func onStop(do func()) *stopper { return &stopper{do: do} }

// direct runs the command in a job of ours, since nothing here can become
// another program, and returns its status.
func direct(command []string) int {
	path, err := lookPath(command[0])
	if err != nil {
		complain(err.Error())
		return exitNotFound
	}
	t, err := start(child{path: path, command: command})
	if err != nil {
		complain(err.Error())
		return exitCannotRun
	}
	status := 0
	t.wait(func(how string) {
		status = statusNumber(how)
		_ = windows.TerminateJobObject(t.job, endedByUs)
	})
	return status
}

func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", cannot("find", name, err)
	}
	return path, nil
}

// clientsWord is how long the command has after the death of the client, which
// it notices itself, before it is ended.
const clientsWord = 3 * time.Second

// watchClient calls gone some time after the client's process has ended. Whether
// anybody still writes to a pipe is not known here without reading.
func watchClient(gone, _ func()) {
	parent, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(os.Getppid()))
	if err != nil {
		return
	}
	defer windows.CloseHandle(parent)
	if !isOlder(parent) { // it is another process, since ours has ended
		return
	}
	if _, err := windows.WaitForSingleObject(parent, windows.INFINITE); err == nil {
		time.Sleep(clientsWord)
		gone()
	}
}

func isOlder(other windows.Handle) bool {
	var theirs, ours, exited, kernel, user windows.Filetime
	return windows.GetProcessTimes(other, &theirs, &exited, &kernel, &user) == nil &&
		windows.GetProcessTimes(windows.CurrentProcess(), &ours, &exited, &kernel, &user) == nil &&
		theirs.Nanoseconds() <= ours.Nanoseconds()
}

// startOwn starts the command below us: its job ends with us, however that is.
func startOwn(command []string) (t *tree, identity string, status int, err error) {
	if t, status, err = startCommand(command); err != nil {
		return nil, "", status, err
	}
	return t, t.identity(), 0, nil
}

// keepOwn is of no use here.
func keepOwn([]string) int {
	complain("the mode own is not for Windows")
	return exitCannotRun
}

// serverBelow is not needed: nothing goes on without us here.
func serverBelow() proc { return proc{} }
