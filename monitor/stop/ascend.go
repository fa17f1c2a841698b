package stop

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// respawnEvery is how often it is looked whether a supervisor starts it again.
const respawnEvery = 20 * time.Millisecond

// watchForAnother begins to follow what starts, before anything is ended; again
// tells in words, when all has ended, that the same runs anew.
func (l *Ladder) watchForAnother(ctx context.Context, in *monitor.Instance, p *party) (again func() string) {
	none := func() string { return "" }
	if in.Managed { // what we start beside it, for somebody else, may run the same
		return none
	}
	fresh := l.o.System.Scan()
	if _, err := fresh(); err != nil {
		return none
	}
	var parent monitor.Identity // zero: nobody who could start it again
	if above, err := l.o.System.Stat(p.rootInfo.Parent); err == nil && above.PID > 1 {
		parent = above.Identity
	}
	return func() string { return l.startedAgain(ctx, p, parent, fresh) }
}

// startedAgain tells in words that what the tree ran runs anew, "" if it does
// not. A supervisor has Limits.Respawn to start it: it is for the user to stop
// that, so what it starts is never pursued. A program may also fork as it ends.
// fresh returns the processes that have come since before the order.
func (l *Ladder) startedAgain(ctx context.Context, p *party, parent monitor.Identity, fresh func() ([]process.Info, error)) string {
	ctx, cancel := context.WithTimeout(ctx, l.o.Limits.Respawn)
	defer cancel()
	tick := time.NewTicker(respawnEvery)
	defer tick.Stop()
	var begun []process.Info
	for {
		news, err := fresh()
		if err != nil {
			l.o.Log.Debug("what runs besides a server that was ended is not all known", "error", err)
		}
		begun = append(begun, news...)
		for _, info := range begun {
			// One that was seen between its fork and its exec looks like its parent.
			if now, err := l.o.System.Read(info.PID); err == nil && now.Identity == info.Identity {
				info = now
			}
			switch {
			case info.Parent == parent.PID && runsSame(info, p.rootInfo):
				return fmt.Sprintf("%s has started it again as process %d; it stays away only when that program lets it", l.named(info.Parent), info.PID)
			case runsSame(info, p.serverInfo):
				return fmt.Sprintf("Process %d runs the same now: it has been started again, or has left the tree; it is another server, to be ended by itself", info.PID)
			}
		}
		if alive, err := process.Alive(l.o.System, parent); err != nil || !alive {
			return ""
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ""
		}
	}
}

func runsSame(one, other process.Info) bool {
	return len(one.Args) > 0 && one.Exe == other.Exe && slices.Equal(one.Args, other.Args)
}
