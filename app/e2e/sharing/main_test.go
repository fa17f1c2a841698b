//go:build linux

// Package sharing tests the finished program: servers that are started, shared,
// seen and ended, over HTTP and below a client's shim.
package sharing

import (
	"testing"

	"lamplighter/app/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
