package situation

import (
	"context"
	"errors"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// server is what the snapshot knew about an instance, and what its dashboard and
// the kernel say of it now.
func (r *recorder) server(ctx context.Context, in *monitor.Instance, t *taken, tree []monitor.Identity) Server {
	e := &in.Evidence
	v := Server{
		PID: in.Identity.PID, StartedAt: in.StartedAt.Round(0),
		AloneSince: e.AloneSince.Round(0), IdleSince: e.IdleSince.Round(0), RedSince: e.RedSince.Round(0),
		MCPPort: monitor.PortOf(in.MCPURL), Managed: in.Managed, Lifetime: in.Lifetime, Pinned: in.Pinned,
	}
	if r.take(in.Keeper.PID) != nil {
		v.Keeper = in.Keeper.PID
	}
	if e.Orphaned || e.Suspected {
		// A listing may not say since when; it was no later than this.
		for _, known := range []time.Time{e.RedSince.Round(0), r.s.Now} {
			if v.AloneSince.IsZero() {
				v.AloneSince = known
			}
		}
	}
	if in.Client != nil && in.Client.PID > 0 {
		v.Client = &Client{PID: in.Client.PID, Start: in.Client.Start, Name: in.Client.Name}
		// A listing does not tell when it started. One that lives is the one of
		// that pid.
		if lives := r.taken[in.Client.PID]; lives != nil && v.Client.Start == 0 && !e.ClientGone {
			v.Client.Start = lives.info.Start
		}
	}
	if abandoned, err := process.Local().Ends(in.Identity).Abandoned(); err == nil {
		v.Abandoned = abandoned
	}
	if v.Client != nil {
		v.Link = link(in, v.Client)
	}
	if in.Kind == monitor.KindSerena && in.Port > 0 {
		v.Dashboard = r.dashboard(ctx, in, t)
	}
	if unit, err := process.ServiceOf(ctx, tree); err == nil && strings.HasSuffix(unit, ".service") {
		r.s.Units = append(r.s.Units, Unit{Name: unit, Main: in.Identity.PID})
	}
	return v
}

// link finds the ends of the conversation of a server with its client: those
// that both hold or, of an orphan, those that nobody holds the other side of.
func link(in *monitor.Instance, c *Client) *Link {
	client := monitor.Identity{PID: c.PID, Start: c.Start}
	if _, l, found, err := process.Local().Ends(in.Identity).Holder(client); err == nil && found {
		return &Link{In: l.In.Inode, Out: l.Out.Inode}
	}
	if !in.Evidence.Orphaned {
		return nil
	}
	ends, err := process.Descriptors(in.Identity)
	if err != nil {
		return nil
	}
	var l Link
	for _, d := range ends {
		if !d.Deserted || d.FD == 2 {
			continue
		}
		if l.In == 0 && d.Reads {
			l.In = d.Inode
		}
		if l.Out == 0 && d.Writes && (d.Inode != l.In || d.FD == 1) {
			l.Out = d.Inode
		}
	}
	if l.Out == 0 && l.In != 0 {
		l.Out = l.In // one socket for both
	}
	if l.In == 0 {
		return nil
	}
	return &l
}

// dashboard is what the snapshot knew, and the queue as it is now.
func (r *recorder) dashboard(ctx context.Context, in *monitor.Instance, t *taken) *Dashboard {
	d := &Dashboard{
		Port: in.Port, Version: in.Version, Calls: in.ToolCalls, LastActivity: in.LastActivity.Round(0), KeepsState: in.Evidence.KeepsState,
	}
	if in.State == monitor.StateProject {
		d.Project, d.Root = in.ProjectName, in.ProjectRoot
	}
	if in.Cause == monitor.CauseUnreachable {
		d.FailingSince = r.s.Now.Add(-monitor.FailingWhenBusy)
	}
	if t.stat.State != process.Running || !d.FailingSince.IsZero() {
		return d
	}
	ctx, cancel := context.WithTimeout(ctx, queueTime)
	defer cancel()
	dashboard := serena.NewClient()
	if d.KeepsState == nil {
		if o, err := dashboard.Overview(ctx, in.Port); err == nil {
			d.KeepsState = o.KeepsState()
		}
	}
	if last, err := dashboard.LastExecution(ctx, in.Port); err == nil && last != nil {
		d.LastTask = last.Name
	}
	tasks, err := dashboard.Queue(ctx, in.Port)
	if err != nil && !errors.Is(err, serena.ErrNoRoute) {
		d.FailingSince = r.s.Now
	}
	for _, task := range tasks {
		d.Queue = append(d.Queue, task.Name)
	}
	return d
}
