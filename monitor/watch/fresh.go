package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// freshAnswer is what a look at one instance comes to.
type freshAnswer struct {
	s   *monitor.Snapshot
	err error
}

var errUnwatched = fmt.Errorf("it is watched no more: %w", process.ErrGone)

// Fresh looks at an instance now: at its process, at what it has started, at its
// client and the pipes to it, and at what it says of its calls. It returns the
// snapshot with what was found, which is published as any other. What could not be
// found out is the error, or is not known there; it is process.ErrGone when the
// instance has ended. It needs Serve and is safe for concurrent use.
func (w *Watch) Fresh(ctx context.Context, id monitor.Identity) (*monitor.Snapshot, error) {
	answer := make(chan freshAnswer, 1)
	w.enqueue(func(ctx context.Context, l *loop, now time.Time) {
		if err := l.lookFreshly(ctx, id, answer, now); err != nil {
			answer <- freshAnswer{err: err}
		}
	})
	select {
	case f := <-answer:
		return f.s, f.err
	case <-ctx.Done():
		return nil, fmt.Errorf("it could not be looked at in time: %w", ctx.Err())
	}
}

// lookFreshly looks at an instance for Fresh. Without an error it is answered later, with
// a snapshot.
func (l *loop) lookFreshly(ctx context.Context, id monitor.Identity, answer chan<- freshAnswer, now time.Time) error {
	t := l.tracked[id]
	if t == nil || !t.ExitedAt.IsZero() {
		return errUnwatched
	}
	st, err := process.StatAlive(l.o.System, id)
	switch {
	case errors.Is(err, process.ErrGone):
		return fmt.Errorf("it has ended: %w", process.ErrGone)
	case err != nil:
		return fmt.Errorf("whether it runs is not known: %w", err)
	}
	main, _ := l.o.System.MainThreadCPU(id.PID)
	t.noteStat(st, main, now)
	if l.sampleTree(t, now) == nil {
		return errors.New("what it has started is not known")
	}
	if err := l.lookAtClient(t, now); err != nil {
		return err
	}
	if t.port == 0 || t.Stopped {
		l.answers = append(l.answers, answer)
		return nil
	}
	t.waiting = append(t.waiting, answer)
	l.probeForWaiting(ctx, t, now)
	return nil
}

// lookAtClient looks whether a client that was seen to end is gone, and nobody else
// holds its end of the pipes.
func (l *loop) lookAtClient(t *tracked, now time.Time) error {
	if !t.isOverStdio() || t.in.Client == nil || t.clientGone.IsZero() {
		return nil
	}
	_, err := process.StatAlive(l.o.System, t.in.Client.Identity)
	switch {
	case errors.Is(err, process.ErrGone):
		l.checkPipe(t, now)
	case err != nil:
		return fmt.Errorf("whether its client is gone is not known: %w", err)
	default:
		e := &t.in.Evidence
		t.clientGone, e.Orphaned, e.Suspected, e.AloneSince = time.Time{}, false, false, time.Time{}
	}
	return nil
}

// probeForWaiting asks a dashboard for whoever waits for that, unless it is being asked: an
// answer that was under way before tells of an earlier moment. Who waits for one that is
// tracked no more was answered.
func (l *loop) probeForWaiting(ctx context.Context, t *tracked, now time.Time) {
	if l.tracked[t.in.Identity] == t && len(t.waiting) > 0 && !t.probing {
		l.probe(ctx, t, now)
	}
}

// releaseWaiting answers those who wait for a look at t, which is tracked no more.
func (t *tracked) releaseWaiting() {
	for _, answer := range slices.Concat(t.waiting, t.asked) {
		answer <- freshAnswer{err: errUnwatched}
	}
}
