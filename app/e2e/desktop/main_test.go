//go:build unix

// Package desktop tests the finished program: as a background process, on a
// desktop, at login, and by its verbs.
package desktop

import (
	"testing"

	"lamplighter/app/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
