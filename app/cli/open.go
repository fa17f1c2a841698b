package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func (p *program) openVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "open [PID|PROJECT]",
		Short: "Open the global dashboard, or that of one server",
		Long: `Opens the global dashboard in the browser, and prints its address. With the
pid, port, id, project name or project directory of a server it opens the
dashboard of that one; a server that has none is shown on the global one.`,
		Example: `  lamplighter open
  lamplighter open 24284
  lamplighter open my-project`,
		Args:              takes(0, 1, "one server at most: its pid, port or project"),
		ValidArgsFunction: p.completeInstances(1, func(*view.Server) bool { return true }),
		RunE: func(cmd *cobra.Command, args []string) error {
			open := p.openGlobal
			if len(args) > 0 {
				open = func(ctx context.Context) error { return p.openInstance(ctx, args[0]) }
			}
			if err := open(cmd.Context()); err != nil {
				return fmt.Errorf("open: %w", err)
			}
			return nil
		},
	}
}

// openGlobal opens the global dashboard or, where the background process does
// not serve it, the dashboard of the newest instance.
func (p *program) openGlobal(ctx context.Context) error {
	client, _, err := api.Dial(ctx, p.Places().ControlSocket)
	if err != nil {
		return fmt.Errorf("%w; start lamplighter for the global dashboard, or name a server to open its own", err)
	}
	defer client.Close()
	address, err := p.PageOf(ctx, client)
	if err != nil {
		return err
	}
	if address != "" {
		return p.openAddress(address)
	}
	list, err := client.Instances(ctx)
	if err != nil {
		return err
	}
	s := daemon.Newest(list.Instances)
	if s == nil {
		return daemon.ErrNoInstance
	}
	return p.openOwn(s)
}

// openInstance opens the dashboard of the one instance that the user means.
func (p *program) openInstance(ctx context.Context, what string) error {
	v, client, err := p.lookAndStay(ctx)
	if err != nil {
		return err
	}
	if client != nil {
		defer client.Close()
	}
	s, err := choose(v.sent.Instances, what)
	if err != nil {
		return err
	}
	if s.DashboardURL != nil {
		return p.openOwn(s)
	}
	if client != nil {
		page, err := p.PageOf(ctx, client)
		if err != nil {
			return err
		}
		if page != "" {
			return p.openAddress(daemon.WithFragment(page, daemon.FragmentOf(s.ID)))
		}
	}
	return fmt.Errorf("%s has no dashboard (%s)", s.Label, s.WithoutDashboard())
}

func (p *program) openOwn(s *view.Server) error {
	if s.State == monitor.StateZombie && !monitor.Cause(view.Value(s.Cause)).OfHealth() {
		p.Say("%s may not answer: %s", s.Label, s.ReasonWords())
	}
	return p.openAddress(view.Value(s.DashboardURL))
}

func (p *program) openAddress(address string) error {
	if _, err := fmt.Fprintln(p.Stdout, monitor.Clean(daemon.WithoutToken(address))); err != nil {
		return err
	}
	if err := p.Open(address); err != nil {
		return fmt.Errorf("%w; %s", err, p.ByHand(address))
	}
	return nil
}
