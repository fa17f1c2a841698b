package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func (p *program) restartVerb() *cobra.Command {
	o := stopOptions{restart: true}
	language := false
	cmd := &cobra.Command{
		Use:   "restart ID|PID|PROJECT…",
		Short: "Start servers again under their clients",
		Long: `Ends the servers with these pids, ports, ids, project names or project
directories, and starts them again at once, where clients have them through
lamplighter: what they ask meanwhile waits, and their conversations go on.

Only its client can start another server again, and most do so only when they are
restarted themselves: that is said, and asked before it is ended.

What is pinned or at work is restarted with --force only; the clients whose calls
are cut off get an error that says so.

With --language-server the servers go on, and only their language servers are started
again: what hangs or crashes is ended, and Serena starts it with the next call.`,
		Example: `  lamplighter restart alpha
  lamplighter restart 4711 --dry-run
  lamplighter restart --language-server alpha`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("restart takes at least one server: its pid, port, id or project, as in lamplighter restart 24284")
			}
			return nil
		},
		ValidArgsFunction: p.completeInstances(many, func(s *view.Server) bool { return s.Restart != nil }),
		RunE: func(cmd *cobra.Command, args []string) error {
			restart := func() error { return p.restartAll(cmd.Context(), args, o) }
			if language {
				if o.force || o.dryRun || o.yes || o.asJSON {
					return usageError{errors.New("restart takes no other flag beside --language-server")}
				}
				restart = func() error { return p.restartLanguageServers(cmd.Context(), args) }
			}
			if err := restart(); err != nil {
				return fmt.Errorf("restart: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&language, "language-server", false, "restart only the language servers of a Serena")
	flags.BoolVar(&o.force, "force", false, "restart also what is pinned, at work or in use")
	flags.BoolVar(&o.dryRun, "dry-run", false, "check everything, and say what would be done")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// toRestart are the servers that the arguments mean, and the background process, which
// alone can restart them. The caller closes it.
func (p *program) toRestart(ctx context.Context, args []string) (client *api.Client, servers []*view.Server, err error) {
	v, client, err := p.lookToChange(ctx)
	if err == nil && client == nil {
		client, err = p.dial(ctx) // which says why
	}
	if err != nil {
		return nil, nil, fmt.Errorf("nothing was restarted: %w", err)
	}
	if servers, err = chooseAll(v.sent.Instances, args, "restarted"); err != nil {
		client.Close()
	}
	return client, servers, err
}

// restartLanguageServers restarts those of the servers that the arguments mean.
func (p *program) restartLanguageServers(ctx context.Context, args []string) error {
	client, servers, err := p.toRestart(ctx, args)
	if err != nil {
		return err
	}
	defer client.Close()
	failed := false
	for _, s := range servers {
		done, err := client.RestartLanguageServer(ctx, string(s.ID))
		if err != nil {
			p.Say("%s", monitor.Clean(err.Error()))
			failed = true
		} else if err := p.print(monitor.Clean(done.Detail) + "\n"); err != nil {
			return err
		}
	}
	if failed {
		return toldError{errors.New("not all were restarted")}
	}
	return nil
}

// restartAll restarts what the arguments mean, which only the background process can.
func (p *program) restartAll(ctx context.Context, args []string, o stopOptions) error {
	client, servers, err := p.toRestart(ctx, args)
	if err != nil {
		return err
	}
	defer client.Close()
	targets := make([]*stopped, len(servers))
	var lost strings.Builder
	for i, s := range servers {
		targets[i] = &stopped{ID: string(s.ID), Label: s.Label, server: s, restart: true}
		if view.Value(s.Restart) == view.ClientsLost {
			lost.WriteString("  " + s.Label + ": " + s.Words.Restart + "\n")
		}
	}
	if lost.Len() > 0 && !o.yes && !o.dryRun {
		if p.keyboard == nil || o.asJSON {
			return usageError{errors.New("nobody can be asked here, and nothing was restarted; add --yes to restart what --dry-run shows")}
		}
		if err := p.print(lost.String()); err != nil {
			return err
		}
		if yes, err := p.yes(ctx, "Restart?"); err != nil || !yes {
			return errors.Join(err, p.print("Nothing was restarted.\n"))
		}
	}
	return p.endAll(ctx, targets, o, nil, func(ctx context.Context, r *stopped) (api.Killed, error) {
		return client.Restart(ctx, r.ID, api.RestartOrder{Force: o.force, DryRun: o.dryRun, Confirm: true})
	})
}
