//go:build unix

package api

import (
	"path/filepath"
	"testing"
)

// controlPath is a place for a control socket, where nothing is yet.
func controlPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "lamplighter", "control.sock")
}
