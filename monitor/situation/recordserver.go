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
	if unit, _, _ := process.Local().Service(ctx, in.Identity, tree); strings.HasSuffix(unit, ".service") {
		r.s.Units = append(r.s.Units, Unit{Name: unit, Main: in.Identity.PID})
	}
	return v
}

// pipe is the conversation of a server with its client: the ends that both hold or, of
// an orphan, whose ends nobody shares any more, such as stand for them.
func pipe(in *monitor.Instance, client monitor.Identity) *monitor.Pipe {
	if _, link, found, err := process.Local().Ends(in.Identity).Holder(client); err == nil && found {
		return &link
	}
	if !in.Evidence.Orphaned {
		return nil
	}
	inode := uint64(in.Identity.PID) << 33 // no other pipe has it
	return &monitor.Pipe{In: monitor.PipeEnd{Inode: inode}, Out: monitor.PipeEnd{Inode: inode + 1}}
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
