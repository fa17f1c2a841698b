package stop

import (
	"context"
	"errors"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// confirm looks once more, when the tree is held and nothing was sent yet: facts
// take their time to gather, a service manager alone may take seconds, and a
// client may connect or call meanwhile. Whoever orders is asked first, see
// Order.Confirm. What a user has just decided about a server that says it is idle
// needs no second look; what a policy has decided earlier does, as late as
// possible. What is found anew is put into f.
//
// The error says that nothing can be done any more.
func (l *Ladder) confirm(ctx context.Context, in *monitor.Instance, p *party, f *Facts, o Order) (*Refusal, error) {
	look, cancel := context.WithTimeout(ctx, l.o.Limits.Check)
	defer cancel()
	if o.Confirm != nil {
		err := o.Confirm(look)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, process.ErrGone):
			return nil, err
		case err != nil:
			return &Refusal{Label: f.Label, Kind: ErrChanged, Why: monitor.Clean(err.Error()) + ".", Forceable: true}, nil
		}
	}
	if !o.Automatic {
		return nil, nil
	}
	if l.o.Pinned != nil {
		f.Pinned = l.o.Pinned(in.Identity)
	}
	listeners := l.listening(p, f)
	l.connected(in, p, listeners, f)
	owned, suspended := owns(in, listeners), l.suspended(p.server)
	if f.Work == Idle { // asked last: a call that comes after it would be lost
		if f.Work, f.Call = CannotTell, ""; !suspended {
			f.Work, f.Call = l.work(look, in.Port, owned)
		}
	}
	f.CanAsk = f.CanAsk && owned && !suspended && f.Work != Silent
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return Check(*f, o), nil
}

// suspended tells whether a server cannot answer, because somebody has stopped it
// by a signal.
func (l *Ladder) suspended(server monitor.Identity) bool {
	s, err := l.o.System.Stat(server.PID)
	return err == nil && s.State == process.Stopped
}
