package api

import (
	"crypto/rand"
	"testing"
)

// controlPath is a name for a control pipe, which nobody serves yet.
func controlPath(t *testing.T) string {
	t.Helper()
	return `\\.\pipe\lamplighter-test-` + rand.Text()
}
