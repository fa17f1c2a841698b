//go:build !linux

package confine

import (
	"context"
	"fmt"
	"runtime"
)

// Run runs nothing here: the error Is ErrUnavailable.
func Run(context.Context, Spec) (status int, err error) {
	return 0, fmt.Errorf("%w: only Linux has the namespaces for it, and this is %s", ErrUnavailable, runtime.GOOS)
}

// Main does nothing here.
func Main([]string) (inside bool, status int) { return false, 0 }
