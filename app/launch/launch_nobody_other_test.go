//go:build !linux

package launch

import "testing"

// nobody needs to look into every process, which only Linux tells in full.
func nobody(*testing.T) {}
