//go:build !linux

package confine

import (
	"context"
	"fmt"
	"runtime"
)

// Check tells whether jobs can be confined; the error Is ErrUnavailable.
func Check(context.Context) error {
	return fmt.Errorf("%w: only Linux has the namespaces for it, and this is %s", ErrUnavailable, runtime.GOOS)
}

// Run runs nothing here: the error is that of Check.
func Run(ctx context.Context, _ Spec) (status int, err error) { return 0, Check(ctx) }

// Main does nothing here.
func Main([]string) (inside bool, status int) { return false, 0 }
