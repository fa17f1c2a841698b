package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// standing is what the loop knows about an instance at one moment, for somebody
// else to look at it again.
type standing struct {
	found bool

	stdio      bool
	link       process.Link
	linked     bool
	client     monitor.Identity
	clientGone bool
	doors      doors

	port      int // of the dashboard
	members   []int
	idleSince time.Time
	lastTask  string
	calls     *int64
	marked    bool // a call was cut off, and this was the tree before it
	before    []monitor.Identity
}

// standing is what is known now.
func (l *loop) standing(id monitor.Identity) standing {
	t := l.tracked[id]
	if t == nil || !t.exitedAt.IsZero() {
		return standing{}
	}
	s := standing{
		found: true,
		stdio: t.overStdio(), link: t.evidence.link, linked: t.evidence.linked, clientGone: !t.evidence.clientGone.IsZero(), doors: t.doors(),
		port: t.port, idleSince: t.use.since(), lastTask: t.lastTask, calls: t.in.ToolCalls,
		marked: t.use.cut.marked, before: t.use.cut.before,
	}
	if t.in.Client != nil {
		s.client = t.in.Client.Identity
	}
	for _, m := range t.members {
		s.members = append(s.members, m.PID)
	}
	return s
}

// inquire asks the loop, which answers while Serve runs.
func (w *Watch) inquire(ctx context.Context, id monitor.Identity) (standing, error) {
	answer := make(chan standing, 1)
	w.tell(nil, func(_ context.Context, l *loop, _ time.Time) { answer <- l.standing(id) })
	var s standing
	select {
	case s = <-answer:
	case <-ctx.Done():
		return standing{}, fmt.Errorf("what is known about it was not told in time: %w", ctx.Err())
	}
	if !s.found {
		return standing{}, fmt.Errorf("it is watched no more: %w", process.ErrGone)
	}
	return s, nil
}

// StillAlone looks now whether a server is a proven orphan: nil says that its
// recorded link is closed, that its client, which was seen to end, is gone, and that
// no other can have come over a unix socket.
// Otherwise the error says what is different, or what could not be found out; it
// is process.ErrGone when the server is watched no more. It needs Serve, asks
// nothing of the server, and is safe for concurrent use.
func (w *Watch) StillAlone(ctx context.Context, id monitor.Identity) error {
	s, err := w.inquire(ctx, id)
	switch {
	case err != nil:
		return err
	case !s.stdio:
		return errors.New("it takes its clients otherwise than over pipes")
	case !s.linked:
		return errors.New("its link to its client was never recorded")
	case !s.clientGone:
		return errors.New("its client was not seen to end")
	}
	alive, err := process.Alive(w.system, s.client)
	switch {
	case err != nil:
		return fmt.Errorf("whether its client is gone is not known: %w", err)
	case alive:
		return errors.New("its client runs")
	}
	closed, err := w.system.Ends(id).Closed(s.link)
	switch {
	case errors.Is(err, process.ErrUnheld): // what it has given up itself connects nobody
	case err != nil:
		return fmt.Errorf("whether somebody holds its pipes is not known: %w", err)
	case !closed:
		return errors.New("somebody holds the other end of its pipes")
	}
	return s.doors.shut(w.system) // it may have begun to listen since
}

// StillIdle asks a server now whether it has been idle since a moment that a
// snapshot told: nil says that it has neither a call nor a queue, and that no call
// has come since the watch looked last. Otherwise the error says what is
// different, or what could not be found out, and the watch looks again; it is
// process.ErrGone when the server is watched no more. It needs Serve and is safe
// for concurrent use.
func (w *Watch) StillIdle(ctx context.Context, id monitor.Identity, since time.Time) error {
	s, err := w.inquire(ctx, id)
	if err != nil {
		return err
	}
	if err := w.stillIdle(ctx, id, s, since); err != nil {
		w.Hint(Hint{PID: id.PID})
		return err
	}
	return nil
}

// canSay tells from a look at the process table, with its error, whether a server
// can be asked: process.ErrGone says that it has ended, and nothing else does.
func canSay(id monitor.Identity, st process.Stat, err error) error {
	switch {
	case errors.Is(err, process.ErrGone), err == nil && st.Identity != id:
		return fmt.Errorf("it has ended: %w", process.ErrGone)
	case err != nil:
		return fmt.Errorf("whether it runs is not known: %w", err)
	case st.State == process.Stopped:
		return errors.New("it is suspended, so that it cannot say whether it is at work")
	}
	return nil
}

func (w *Watch) stillIdle(ctx context.Context, id monitor.Identity, s standing, since time.Time) error {
	switch {
	case s.port == 0:
		return errors.New("it has no dashboard that says whether it is at work")
	case s.idleSince.IsZero():
		return errors.New("it is not known to be idle")
	case s.idleSince.After(since):
		return errors.New("it was used since")
	case s.calls == nil:
		return errors.New("how many calls it has had is not known")
	}
	st, err := w.system.Stat(id.PID)
	if err := canSay(id, st, err); err != nil {
		return err
	}
	if !listenOn(w.system, s.port, s.members...) {
		return fmt.Errorf("port %d is no longer its own", s.port)
	}
	if s.marked {
		tree, err := w.system.Tree(id)
		switch {
		case err != nil:
			return fmt.Errorf("whether a call that was cut off is over is not known: %w", err)
		case leftOver(identitiesOf(tree), s.before, id):
			return errors.New("a call that was cut off may still be at work")
		}
	}
	// What runs is asked about last: it would be lost.
	calls, err := within(ctx, serena.AnswerTimeout, func(ctx context.Context) (int64, error) { return w.client.ToolCalls(ctx, s.port) })
	if err != nil {
		return fmt.Errorf("it does not say how many calls it has had: %w", err)
	}
	task, err := within(ctx, serena.AnswerTimeout, func(ctx context.Context) (*serena.Task, error) { return w.client.LastExecution(ctx, s.port) })
	if err != nil {
		return fmt.Errorf("it does not say what it did last: %w", err)
	}
	queue, err := within(ctx, serena.AnswerTimeout, func(ctx context.Context) ([]serena.Task, error) { return w.client.Queue(ctx, s.port) })
	switch {
	case err != nil:
		return fmt.Errorf("it does not say whether it is at work: %w", err)
	case len(queue) > 0:
		return errors.New("it is at work")
	case calls != *s.calls || taskName(task) != s.lastTask:
		return errors.New("it has just been used")
	}
	return nil
}
