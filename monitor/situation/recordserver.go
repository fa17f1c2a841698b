package situation

import (
	"context"
	"errors"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// server is what the snapshot knew about an instance, and what its dashboard and
// the kernel say of it now.
func (r *recorder) server(ctx context.Context, in *monitor.Instance, t *taken, tree []monitor.Identity) Server {
	e := &in.Evidence
	v := Server{
		PID: in.Identity.PID, StartedAt: in.StartedAt.Round(0), Pinned: in.Pinned, KeptUntil: in.Plan.KeptUntil.Round(0),
		Proof: monitor.Proof{IdleSince: e.IdleSince.Round(0), RedSince: e.RedSince.Round(0)},
	}
	if in.Client != nil && in.Client.PID > 0 {
		client := *in.Client
		// A listing does not tell when it started. One that lives is the one of
		// that pid.
		if lives := r.taken[client.PID]; lives != nil && client.Start == 0 && !e.ClientGone {
			client.Start = lives.info.Start
		}
		v.Proof.Client = &client
		v.Proof.Pipe = pipe(in, client.Identity)
	}
	alone := e.AloneSince.Round(0)
	if (e.Orphaned || e.Suspected) && alone.IsZero() {
		// A listing may not say since when; it was no later than this.
		if alone = e.RedSince.Round(0); alone.IsZero() {
			alone = r.s.Now
		}
	}
	if v.Proof.Pipe != nil {
		v.Proof.AloneSince = alone
	} else {
		v.Proof.SuspectedSince = alone
	}
	if in.Managed {
		r.take(in.Keeper.PID)
		v.Launch = &monitor.Launch{
			Server: in.Identity, Keeper: in.Keeper, Lifetime: in.Lifetime, Port: monitor.PortOf(in.MCPURL), DashboardPort: in.Port, AskedBy: v.Proof.Client,
		}
	}
	if abandoned, err := process.Local().Ends(in.Identity).Abandoned(); err == nil {
		v.Abandoned = abandoned
	}
	if in.Kind == monitor.KindSerena && in.Port > 0 {
		v.Dashboard = r.dashboard(ctx, in, t)
	}
	if unit, err := process.ServiceOf(ctx, tree); err == nil && strings.HasSuffix(unit, ".service") {
		r.s.Units = append(r.s.Units, Unit{Name: unit, Main: in.Identity.PID})
	}
	return v
}

// pipe finds the ends of the conversation of a server with its client: those
// that both hold or, of an orphan, those that nobody holds the other side of.
func pipe(in *monitor.Instance, client monitor.Identity) *monitor.Pipe {
	if _, l, found, err := process.Local().Ends(in.Identity).Holder(client); err == nil && found {
		return &monitor.Pipe{In: monitor.PipeEnd{Inode: l.In.Inode, Peer: l.In.Peer}, Out: monitor.PipeEnd{Inode: l.Out.Inode, Peer: l.Out.Peer}}
	}
	if !in.Evidence.Orphaned {
		return nil
	}
	ends, err := process.Descriptors(in.Identity)
	if err != nil {
		return nil
	}
	var p monitor.Pipe
	for _, d := range ends {
		if !d.Deserted || d.FD == 2 {
			continue
		}
		end := monitor.PipeEnd{Inode: d.Inode, Peer: d.Peer}
		if p.In.Inode == 0 && d.Reads {
			p.In = end
		}
		if p.Out.Inode == 0 && d.Writes && (d.Inode != p.In.Inode || d.FD == 1) {
			p.Out = end
		}
	}
	if p.Out.Inode == 0 {
		p.Out = p.In // one socket for both
	}
	if p.In.Inode == 0 {
		return nil
	}
	return &p
}

// dashboard is what the snapshot knew, and the queue as it is now.
func (r *recorder) dashboard(ctx context.Context, in *monitor.Instance, t *taken) *Dashboard {
	d := &Dashboard{
		Port: in.Port, Version: in.Version, Calls: in.ToolCalls, LastActivity: in.LastActivity.Round(0), KeepsState: in.Evidence.KeepsState,
	}
	if in.State == monitor.StateProject {
		d.Project, d.Root = in.ProjectName, r.hide.path(in.ProjectRoot)
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
