//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onSignal has a signal end the tree, from now on.
func onSignal(reasons chan<- reason) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// A launcher that is gone is an error of a write then, and not our end. To
	// ignore the signal would make the server ignore it too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		for range signals {
			reasons <- asked
		}
	}()
}
