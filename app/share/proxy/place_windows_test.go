package proxy

import (
	"crypto/rand"
	"testing"
)

// sharePath is a name for a pipe, which nobody serves yet.
func sharePath(t testing.TB) string {
	t.Helper()
	return `\\.\pipe\lamplighter-test-` + rand.Text()
}
