package situation

import (
	"cmp"
	"context"
	"errors"

	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

// server is what the snapshot knew about an instance, and what its dashboard and
// the kernel say of it now.
func (r *recorder) server(ctx context.Context, in *monitor.Instance, t *taken) *Server {
	e := &in.Evidence
	v := &Server{
		StartedAt: in.StartedAt.Round(0), Pinned: in.Pinned, KeptUntil: in.Plan.KeptUntil.Round(0),
		Proof: monitor.Proof{IdleSince: e.IdleSince.Round(0), RedSince: e.RedSince.Round(0)},
	}
	if in.Client != nil && in.Client.PID > 0 {
		client := *in.Client
		// A listing does not tell when it started. One that lives is the one of
		// that pid.
		if lives := r.taken[client.PID]; lives != nil && client.Start == 0 && !e.ClientGone {
			client.Start = lives.Start
		}
		v.Proof.Client = &client
		r.conversation(in, v)
	}
	v.Proof.AloneSince = e.AloneSince.Round(0)
	if e.Orphaned || e.Suspected { // a listing may not say since when; it was no later than this
		v.Proof.AloneSince = cmp.Or(e.AloneSince, e.RedSince, r.s.Now).Round(0)
	}
	if in.Managed {
		v.Launch = &monitor.Launch{
			Server: in.Identity, Keeper: in.Keeper, Lifetime: in.Lifetime, Port: monitor.PortOf(in.MCPURL), DashboardPort: in.Port, AskedBy: v.Proof.Client,
		}
	}
	if abandoned, err := r.system.Ends(in.Identity).Abandoned(); err == nil {
		v.Abandoned = &abandoned
	}
	if in.Kind == monitor.KindSerena && in.Port > 0 {
		r.dashboard(ctx, in, t, v)
	}
	return v
}

// conversation notes the ends of a server's conversation with its client, and whether
// they are closed. A listing does not tell which they were: for those of an orphan any do,
// because a recording has one conversation.
func (r *recorder) conversation(in *monitor.Instance, v *Server) {
	ends, link := r.system.Ends(in.Identity), in.Evidence.Pipe
	known := link != (monitor.Pipe{})
	if !known {
		_, link, known, _ = ends.Holder(v.Proof.Client.Identity) // not found where nobody can tell
	}
	if known {
		if closed, err := ends.Closed(link); err == nil {
			v.Proof.Pipe, v.Closed = &link, &closed
			return
		}
	}
	if in.Evidence.Orphaned {
		v.Proof.Pipe, v.Closed = &monitor.Pipe{In: monitor.PipeEnd{Inode: 1}}, new(true)
	}
}

// dashboard notes what the snapshot knew, and the queue as it is now.
func (r *recorder) dashboard(ctx context.Context, in *monitor.Instance, t *taken, v *Server) {
	d := &Dashboard{Port: in.Port, Version: in.Version, LastActivity: in.LastActivity.Round(0), KeepsState: in.Evidence.KeepsState}
	v.Dashboard, v.Proof.Calls = d, in.ToolCalls
	if in.State == monitor.StateProject {
		d.Project, d.Root = in.ProjectName, r.hide.path(in.ProjectRoot)
	}
	if in.Cause == monitor.CauseUnreachable {
		v.Proof.FailingSince = r.s.Now.Add(-monitor.FailingWhenBusy)
	}
	if t.State != "" || !v.Proof.FailingSince.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, queueTime)
	defer cancel()
	if d.KeepsState == nil {
		if o, err := r.dashboards.Overview(ctx, in.Port); err == nil {
			d.KeepsState = o.KeepsState()
		}
	}
	if last, err := r.dashboards.LastExecution(ctx, in.Port); err == nil && last != nil {
		v.Proof.LastTask = last.Name
	}
	tasks, err := r.dashboards.Queue(ctx, in.Port)
	if err != nil && !errors.Is(err, serena.ErrNoRoute) {
		v.Proof.FailingSince = r.s.Now
	}
	for _, task := range tasks {
		d.Queue = append(d.Queue, task.Name)
	}
}
