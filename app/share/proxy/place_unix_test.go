//go:build unix

package proxy

import (
	"path/filepath"
	"testing"
)

// sharePath is a place for a socket, where nothing is yet.
func sharePath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "lamplighter", "share.sock")
}
