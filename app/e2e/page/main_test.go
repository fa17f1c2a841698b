//go:build real && linux

// Package page tests the finished program through its global dashboard, in a real
// browser.
package page

import (
	"testing"

	"lamplighter/app/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
