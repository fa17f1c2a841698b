package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/doctor"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/view"
)

// record writes down the situation of this machine, for a report.
func (p *program) record(ctx context.Context, path string) error {
	o := doctor.Recording{Path: path, Version: p.Version, Background: os.Getpid()} // whoever looks is not to be ended either
	client, health, err := api.Dial(ctx, p.Places().ControlSocket)
	if err == nil {
		defer client.Close()
		list, err := client.Instances(ctx)
		if err != nil {
			return err
		}
		o.Snapshot, o.Background = asSeen(list.Instances), health.PID
		status, err := client.Status(ctx)
		if err != nil {
			return err
		}
		o.Paused = status.Policy.Paused
		for _, rule := range status.Policy.Rules {
			if rule.Set && !rule.On {
				o.Off = append(o.Off, policy.Rule(rule.Name))
			}
		}
	} else {
		p.explainScan(err)
		if o.Snapshot, err = p.scan(ctx); err != nil {
			return err
		}
	}
	places := p.Places()
	settings, _ := config.Load(places.Config, places.ConfigNamed) // with an error come the defaults
	serena, _ := config.NewSerenaWatcher(places.SerenaHome, nil).Load()
	o.Servers, o.Policies = settings.Servers, settings.Policies(p.Flags, settings.Layer, serena)
	s, err := doctor.Record(ctx, o)
	if err != nil {
		return fmt.Errorf("recording the situation: %w", err)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n\n%s\n", written(path, len(o.Snapshot.Instances), len(s.Processes)), handingOut)
	return err
}

// asSeen are servers as the background process has seen them, with what a recording holds
// of that, and what the policies decide by.
func asSeen(list []*view.Server) *monitor.Snapshot {
	snap := &monitor.Snapshot{At: time.Now()}
	for _, s := range list {
		id, err := monitor.ParseIdentity(string(s.ID))
		if err != nil {
			continue
		}
		in := monitor.Instance{
			Identity: id, Kind: s.Kind, Port: view.Value(s.Port), MCPURL: view.Value(s.MCPURL), Version: view.Value(s.Version), Managed: s.Managed, Pinned: s.Pinned,
			ProjectName: view.Value(s.ProjectName), ProjectRoot: view.Value(s.ProjectRoot), State: s.State, Cause: monitor.Cause(view.Value(s.Cause)),
			StartedAt: view.Value(s.StartedAt), LastActivity: view.Value(s.IdleFrom()), ToolCalls: s.ToolCalls,
			Directory: view.Value(s.Directory), Busy: s.Busy, RSSBytes: view.Value(s.RSSBytes), Recognised: s.Certainty != monitor.Unsure,
			Evidence: monitor.Evidence{
				Transport: view.Value(s.Transport), ClientGone: s.ClientGone, Orphaned: s.Orphaned, AloneSince: view.Value(s.AloneSince), IdleSince: view.Value(s.IdleSince),
			},
			Plan: monitor.Plan{KeptUntil: view.Value(s.KeptUntil)},
		}
		if s.Client != nil {
			in.Client = &monitor.Client{Identity: monitor.Identity{PID: s.Client.PID}, Name: s.Client.Name}
		}
		if s.Entry != nil {
			in.Entry = &monitor.Entry{Name: s.Entry.Name, File: s.Entry.File}
		}
		if s.SharedBy != nil {
			in.Sharing = &monitor.Sharing{Clients: make([]monitor.Client, len(s.Clients))}
		}
		snap.Instances = append(snap.Instances, &in)
	}
	return snap
}

func written(path string, instances, processes int) string {
	return fmt.Sprintf("Wrote %s: %s, %s.", path, monitor.Plural(instances, "server", "servers"), monitor.Plural(processes, "process", "processes"))
}

// handingOut is what to know before the file is given to anybody.
const handingOut = `What looked like a secret in an argument, your name and your home directory were
removed. What your programs, directories and projects are called is still in it, so
read it before you share it. Then change "expect" to what should be decided, and
say what happened in "story".`
