//go:build !linux

package workspace

import (
	"context"
	"time"
)

// longestWait bounds how long one timer runs: it may stand still while the system
// sleeps, and knows nothing of a clock that is set.
const longestWait = 10 * time.Minute

// watchClock has nothing to watch here.
func watchClock(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return context.Cause(ctx)
}
