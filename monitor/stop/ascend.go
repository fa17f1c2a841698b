package stop

import (
	"context"
	"fmt"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// ascend takes one step after the other until the climb is at its end or ctx
// is. Either way nothing is left suspended.
func (l *Ladder) ascend(ctx context.Context, j *journal, p *party, port int) {
	defer p.thaw()
	for {
		if err := p.look(l.now()); err != nil {
			l.o.Log.Warn("part of a tree that is being ended cannot be looked at", "instance", j.in.Label(), "error", err)
		}
		if ctx.Err() != nil {
			return
		}
		s := p.next()
		switch s.do {
		case actDone, actGiveUp:
			return
		case actWait:
			p.wait(ctx, s.until-p.now)
		case actAsk:
			j.add(monitor.EventAsked, fmt.Sprintf("on port %d", port))
			if err := l.ask(ctx, p, port); err != nil {
				l.o.Log.Info("a server could not be asked to end", "instance", j.in.Label(), "error", err)
				p.unheard = true
			}
		case actFreeze:
			p.freeze(s.to)
		case actTerminate:
			j.add(monitor.EventTerminated, list(p.those(s.to)))
			p.terminate(s.to)
		case actKill:
			j.add(monitor.EventForceKilled, list(p.those(s.to)))
			p.kill(s.to)
		}
		p.did(s)
	}
}

// ask asks the server to end, if the port still is the tree's.
func (l *Ladder) ask(ctx context.Context, p *party, port int) error {
	if err := process.ListensOn(l.o.System, port, p.pids()...); err != nil {
		return err
	}
	return l.o.Dashboards.Shutdown(ctx, port)
}
