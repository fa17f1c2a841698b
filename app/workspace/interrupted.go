package workspace

import (
	"context"
	"errors"
	"fmt"
)

// Interrupted says of an error of what was given up because ctx has ended what that
// means: now, as in "nothing was made". Where the error says more than that ctx has
// ended, such as that something could not be undone, it is kept.
func Interrupted(ctx context.Context, err error, now string) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case OnlyEnded(ctx, err):
		return errors.New("interrupted; " + now)
	}
	return fmt.Errorf("interrupted: %w", err)
}

// OnlyEnded tells of an error of what was given up, because ctx has ended, whether
// that is all that it says. Who had the places that were waited for means nothing
// then.
func OnlyEnded(ctx context.Context, err error) bool {
	switch wraps := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range wraps.Unwrap() {
			if !OnlyEnded(ctx, one) {
				return false
			}
		}
		return true
	case interface{ Unwrap() error }:
		return OnlyEnded(ctx, wraps.Unwrap())
	case *TooMany:
		return true
	}
	return errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))
}
