package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/thejerf/suture/v4"

	"lamplighter/monitor"
)

// service is a long-running part under a name for the log.
type service struct {
	name  string
	serve func(ctx context.Context) error
}

func (s service) Serve(ctx context.Context) error { return s.serve(ctx) }
func (s service) String() string                  { return s.name }

// eachSnapshot serves a part that takes in each snapshot of a look at the machine.
func eachSnapshot(source monitor.Source, take func(*monitor.Snapshot)) func(context.Context) error {
	return func(ctx context.Context) error {
		snapshots, cancel := source.Subscribe()
		defer cancel()
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case s := <-snapshots:
				if s.Seq > 0 { // before the first look nothing has ended
					take(s)
				}
			}
		}
	}
}

// newSupervisor restarts parts that end, at once for the first few times and
// then every 15 s (the library's defaults). limit is what they get to stop.
func newSupervisor(log *slog.Logger, limit time.Duration) *suture.Supervisor {
	return suture.New("lamplighter", suture.Spec{
		EventHook: (&failures{log: log, count: map[string]int{}}).note,
		Timeout:   limit,
	})
}

// failures logs each part's first failure, and then at each doubling of its
// count, so that a part that fails for ever does not fill the log.
type failures struct {
	log *slog.Logger

	mu    sync.Mutex
	count map[string]int
}

func (f *failures) note(e suture.Event) {
	switch e := e.(type) {
	case suture.EventServicePanic:
		f.failed(e.ServiceName, "panic: "+e.PanicMsg, "stack", e.Stacktrace)
	case suture.EventServiceTerminate:
		f.failed(e.ServiceName, fmt.Sprint(e.Err))
	case suture.EventStopTimeout:
		f.log.Warn("a part did not stop in time", "part", e.ServiceName)
	}
}

func (f *failures) failed(part, why string, more ...any) {
	f.mu.Lock()
	f.count[part]++
	n := f.count[part]
	f.mu.Unlock()
	if n&(n-1) == 0 {
		f.log.Error("a part has failed and starts again", append([]any{"part", part, "why", why, "count", n}, more...)...)
	}
}
