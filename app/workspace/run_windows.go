package workspace

import (
	"os"
	"os/signal"
	"syscall"
)

// forJobs are the signals to our process that a job gets from us: none, since the
// console sends what it sends to all who have it. Until stop is called none of it
// ends our process.
func forJobs() (signals <-chan os.Signal, stop func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	return nil, func() { signal.Stop(caught) }
}

func exitStatus(state *os.ProcessState) int { return state.ExitCode() }
