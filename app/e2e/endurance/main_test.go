//go:build real && linux && (full || soak)

// Package endurance tests what takes long of the finished program: faults, a
// soak, and the scenes that recorded situations come from.
package endurance

import (
	"testing"

	"lamplighter/app/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
