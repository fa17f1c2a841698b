package events

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"lamplighter/monitor"
)

// Total sums up how much memory has been given back, as the events of kind
// ended tell it. Make one with NewTotal. It is safe for concurrent use.
type Total struct {
	dir string
	log *slog.Logger

	mu    sync.Mutex
	bytes uint64
	since time.Time
}

// NewTotal returns the Total of the lifecycle log in the state directory dir. It
// is nothing until Serve runs. A nil log is silent.
func NewTotal(dir string, log *slog.Logger) *Total {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Total{dir: dir, log: log}
}

// GivenBack is the sum in bytes, and the time of the oldest event in the log that
// it was summed up from, whatever that tells; both are zero while nothing was
// given back. What is rotated away while Serve runs stays in the sum.
func (t *Total) GivenBack() (bytes uint64, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes == 0 {
		return 0, time.Time{}
	}
	return t.bytes, t.since
}

// Serve reads the lifecycle log once, line by line, and then only what any
// process appends, until ctx ends. Where the log cannot be followed that is
// logged, and the sum stays as it is. When it is called again the sum does not
// become smaller.
func (t *Total) Serve(ctx context.Context) error {
	var now sum
	err := followLines(ctx, t.dir, time.Time{}, now.line, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.bytes = max(t.bytes, now.bytes)
		if t.since.IsZero() {
			t.since = now.since
		}
		return nil
	})
	if ctx.Err() == nil {
		t.log.Warn("the memory given back is not summed up any further", "error", err)
		<-ctx.Done()
	}
	return ctx.Err()
}

// sum is that of lines.
type sum struct {
	bytes uint64
	since time.Time // of the first that is an event
}

// freedField is in every line that counts: most do not, and are not parsed.
var freedField = []byte(`"freed_bytes"`)

// line takes one line as a splitter gives it.
func (s *sum) line(line []byte) {
	counts := bytes.Contains(line, freedField)
	if !counts && !s.since.IsZero() {
		return
	}
	e, err := parse(line)
	if err != nil {
		return
	}
	if s.since.IsZero() {
		s.since = e.At
	}
	if e.Kind == monitor.EventEnded {
		s.bytes += min(e.FreedBytes, math.MaxUint64-s.bytes)
	}
}
