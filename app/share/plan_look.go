package share

import (
	"context"
	"errors"
	"time"
)

// mostLooks bounds how many are under way, those that are lost included.
const mostLooks = 64

// errSilent says that the files did not answer.
var errSilent = errors.New("the files did not answer")

// look looks at files. The error is errSilent or that of ctx.
func look[T any](ctx context.Context, a *Planner, find func() T) (T, error) {
	var none T
	wait := time.NewTimer(a.o.Limits.Turn)
	defer wait.Stop()
	select {
	case a.looking <- struct{}{}:
	case <-wait.C:
		return none, errSilent
	case <-ctx.Done():
		return none, ctx.Err()
	}
	limit := time.NewTimer(a.o.Limits.Look)
	defer limit.Stop()
	found := make(chan T, 1)
	go func() {
		defer func() { <-a.looking }()
		found <- find()
	}()
	select {
	case v := <-found:
		return v, nil
	case <-limit.C:
		return none, errSilent
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
