package share

import (
	"context"
	"errors"
	"time"

	"lamplighter/monitor/serena"
)

// cutOffTime is how long a tool call that Serena has cut off may go on at work: it
// does so outside the queue, where nobody sees it.
const cutOffTime = 10 * time.Minute

// dashboard asks Serena's own page.
type dashboard struct {
	queue func(context.Context, int) ([]serena.Task, error)
	last  func(context.Context, int) (*serena.Task, error)
}

func newDashboard() dashboard {
	c := serena.NewClient()
	return dashboard{queue: c.Queue, last: c.LastExecution}
}

// busy reports whether a Serena works although no request waits for it.
func (d dashboard) busy(ctx context.Context, s Server, quiet time.Duration) (bool, error) {
	port := s.DashboardPort()
	if port == 0 {
		return false, nil // it has none; what was asked through us is known
	}
	tasks, err := d.queue(ctx, port)
	if err == nil && len(tasks) > 0 {
		return true, nil
	}
	last, lastErr := d.last(ctx, port)
	if err := errors.Join(err, lastErr); err != nil {
		return false, err
	}
	return last.CutOff() && quiet < cutOffTime, nil
}
