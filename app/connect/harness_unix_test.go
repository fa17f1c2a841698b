//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// fill fills a pipe.
func fill(t testing.TB, pipe *os.File) {
	t.Helper()
	raw, err := pipe.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Write(func(fd uintptr) bool {
		for {
			if _, err := syscall.Write(int(fd), make([]byte, 4096)); err != nil {
				return true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// endSoon has every ending take a tenth of its time, so that they keep their order.
func endSoon() {
	for _, limits := range [][]time.Duration{headsLimit[:], survivorsLimit[:]} {
		for i := range limits {
			limits[i] /= 10
		}
	}
}
