//go:build real

package serenatest

import (
	"syscall"
	"testing"
)

// TestSuspended: a server that is stopped by a signal is ended all the same.
func TestSuspended(t *testing.T) {
	var s *Server
	t.Run("use", func(t *testing.T) {
		s = Start(t, Options{})
		s.WaitReady(t)
		s.Initialize(t)
		s.Signal(t, syscall.SIGSTOP)
	})
	gone(t, s)
}
