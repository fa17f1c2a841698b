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
	listeners, err := l.o.System.Listeners()(p.pids())
	if err != nil {
		return err
	}
	if !hears(listeners, port) {
		return fmt.Errorf("port %d is no longer its own", port)
	}
	return l.o.Dashboards.Shutdown(ctx, port)
}

// family is what is above a tree, to see whether the same is started again.
type family struct {
	managed  bool                      // there is nothing to see
	parent   monitor.Identity          // zero = nobody to be looked at
	children map[int]bool              // that it had before
	twins    map[monitor.Identity]bool // what ran the same as the server, it among them
}

// respawnEvery is how often a parent is looked at.
const respawnEvery = 20 * time.Millisecond

// familyOf looks at what is there before anything is ended. Above a server that
// we have started is nobody but us, and what we start beside it, for somebody
// else, may run the same.
func (l *Ladder) familyOf(in *monitor.Instance, p *party) family {
	if in.Managed {
		return family{managed: true}
	}
	f := l.parentOf(p)
	f.twins = map[monitor.Identity]bool{}
	for _, info := range l.sameAs(p.serverInfo) {
		f.twins[info.Identity] = true
	}
	return f
}

// sameAs are the processes that run what a server runs.
func (l *Ladder) sameAs(server process.Info) []process.Info {
	if len(server.Args) == 0 {
		return nil
	}
	all, err := l.o.System.Scan()()
	if err != nil {
		l.o.Log.Debug("what runs besides a server that is ended is not all known", "error", err)
	}
	return slices.DeleteFunc(all, func(info process.Info) bool {
		return info.Exe != server.Exe || !slices.Equal(info.Args, server.Args)
	})
}

func (l *Ladder) parentOf(p *party) family {
	root, err := l.o.System.Stat(p.root.PID)
	if err != nil || root.Parent <= 1 {
		return family{}
	}
	parent, err := l.o.System.Stat(root.Parent)
	if err != nil {
		return family{}
	}
	children, err := process.Below(l.o.System, root.Parent)
	if err != nil {
		return family{}
	}
	f := family{parent: parent.Identity, children: map[int]bool{}}
	for _, pid := range children {
		f.children[pid] = true
	}
	return f
}

// respawned tells in words that the parent has started the same program again,
// "" if it has not within Limits.Respawn. A supervisor does: it is for the user
// to stop that, so what it starts is never pursued.
func (l *Ladder) respawned(ctx context.Context, f family, p *party) string {
	if f.managed {
		return ""
	}
	if text := l.parentAgain(ctx, f, p); text != "" {
		return text
	}
	if pid := l.elsewhere(f, p); pid > 0 {
		return fmt.Sprintf("Process %d runs the same now: it has been started again, or has left the tree; it is another server, to be ended by itself", pid)
	}
	return ""
}

// elsewhere finds a process of ours that runs what the server ran and has
// started since the order was given, 0 for none: a program may fork as it ends.
func (l *Ladder) elsewhere(f family, p *party) (pid int) {
	for _, info := range l.sameAs(p.serverInfo) {
		if f.twins[info.Identity] || info.Identity == p.server {
			continue
		}
		started, err := l.o.System.Started(info.Identity)
		if err == nil && info.Start >= p.server.Start && started.After(p.started.Add(-2*time.Second)) {
			return info.PID
		}
	}
	return 0
}

func (l *Ladder) parentAgain(ctx context.Context, f family, p *party) string {
	if f.parent.PID == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.Limits.Respawn)
	defer cancel()
	tick := time.NewTicker(respawnEvery)
	defer tick.Stop()
	for {
		s, err := l.o.System.Stat(f.parent.PID)
		if err != nil || s.Identity != f.parent || s.State == process.Unreaped {
			return ""
		}
		if pid := l.again(f, p.rootInfo); pid > 0 {
			return fmt.Sprintf("%s has started it again as process %d; it stays away only when that program lets it", l.named(f.parent.PID), pid)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ""
		}
	}
}

// again finds a new child that runs what the root ran.
func (l *Ladder) again(f family, root process.Info) (pid int) {
	children, err := process.Below(l.o.System, f.parent.PID)
	if err != nil {
		return 0
	}
	for _, pid := range children {
		if f.children[pid] {
			continue
		}
		info, err := l.o.System.Read(pid)
		if err == nil && info.Exe == root.Exe && slices.Equal(info.Args, root.Args) && len(info.Args) > 0 {
			return pid
		}
	}
	return 0
}
