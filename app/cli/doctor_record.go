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
		o.Snapshot, o.Background = view.Decode(list.Instances, time.Now()), health.PID
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

func written(path string, instances, processes int) string {
	return fmt.Sprintf("Wrote %s: %s, %s.", path, monitor.Plural(instances, "server", "servers"), monitor.Plural(processes, "process", "processes"))
}

// handingOut is what to know before the file is given to anybody.
const handingOut = `What looked like a secret in an argument, your name and your home directory were
removed. What your programs, directories and projects are called is still in it, so
read it before you share it. Then change "expect" to what should be decided, and
say what happened in "story".`
