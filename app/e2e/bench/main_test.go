//go:build real && bench && linux

// Package bench measures what the finished program costs.
package bench

import (
	"testing"

	"lamplighter/app/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
