//go:build unix

package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// helpHear says which signals come.
func helpHear() error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGCONT)
	fmt.Println("ready")
	for s := range signals {
		fmt.Println("signal", s)
	}
	return nil
}
