//go:build unix

package cli

import "os"

// typed reports whether somebody types what f reads.
func typed(f *os.File) bool {
	_, _, ok := windowSize(f)
	return ok
}
