package stop

import (
	"context"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// altered is this machine, but for what a test says.
type altered struct {
	process.System
	read      func(pid int) (process.Info, error)
	stat      func(pid int) (process.Stat, error)
	sameUser  func(pid int) (bool, error)
	listeners func(pids []int) ([]process.Listener, error)
	service   func(context.Context) (unit string, contained bool, err error)
}

// alter lets a test say what a ladder finds.
func alter(l *Ladder) *altered {
	a := &altered{System: process.Local()}
	l.o.System = a
	return a
}

func (a *altered) Read(pid int) (process.Info, error) {
	if a.read != nil {
		return a.read(pid)
	}
	return a.System.Read(pid)
}

func (a *altered) Stat(pid int) (process.Stat, error) {
	if a.stat != nil {
		return a.stat(pid)
	}
	return a.System.Stat(pid)
}

func (a *altered) SameUser(pid int) (bool, error) {
	if a.sameUser != nil {
		return a.sameUser(pid)
	}
	return a.System.SameUser(pid)
}

func (a *altered) Listeners(pids []int) ([]process.Listener, error) {
	if a.listeners != nil {
		return a.listeners(pids)
	}
	return a.System.Listeners(pids)
}

func (a *altered) Service(ctx context.Context, server monitor.Identity, tree []monitor.Identity) (string, bool, error) {
	if a.service != nil {
		return a.service(ctx)
	}
	return a.System.Service(ctx, server, tree)
}
