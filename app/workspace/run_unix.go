//go:build unix

package workspace

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// forJobs are the signals to our process that a job gets from us, until stop is
// called. Until then none of those that end programs ends ours.
func forJobs() (signals <-chan os.Signal, stop func()) {
	caught := slices.DeleteFunc([]os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP}, signal.Ignored)
	raw, out := make(chan os.Signal, 8), make(chan os.Signal, 8)
	ended := make(chan struct{})
	if len(caught) > 0 { // none would mean all
		signal.Notify(raw, caught...)
	}
	besides := watchGroup()
	go func() {
		defer close(ended)
		for sig := range raw {
			if typed(sig) && inForeground() && besides.hasGot(time.Now()) {
				continue // the job has got it, too
			}
			select {
			case out <- sig:
			default: // it has enough to think about
			}
		}
	}()
	return out, func() {
		signal.Stop(raw)
		close(raw)
		<-ended
		besides.stop()
	}
}

// typed reports whether a signal is one that the keys of a terminal send.
func typed(sig os.Signal) bool { return sig == unix.SIGINT || sig == unix.SIGQUIT }

// inForeground reports whether what the terminal sends goes to our process group,
// which the job is in.
func inForeground() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false // there is none
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func exitStatus(state *os.ProcessState) int {
	if wait, ok := state.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		return 128 + int(wait.Signal())
	}
	return state.ExitCode()
}
