package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/monitor"
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
		ValidArgsFunction: p.completeInstances(1, func(*monitor.Instance) bool { return true }),
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
	client, health, err := api.Dial(ctx, p.places().ControlSocket)
	if err != nil {
		return fmt.Errorf("%w; start lamplighter for the global dashboard, or name a server to open its own", err)
	}
	defer client.Close()
	address, err := p.pageOf(ctx, client)
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
	in := newest(received(list, health).snapshot)
	if in == nil {
		return errNoInstance
	}
	return p.openOwn(in)
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
	in, err := choose(v.snapshot, what)
	if err != nil {
		return err
	}
	if in.DashboardURL != "" {
		return p.openOwn(in)
	}
	if client != nil {
		page, err := p.pageOf(ctx, client)
		if err != nil {
			return err
		}
		if page != "" {
			return p.openAddress(withFragment(page, fragmentOf(in)))
		}
	}
	return fmt.Errorf("%s has no dashboard (%s)", in.Label(), condition(in))
}

// justStarted is how old a background process may be whose page is not served
// yet, although it is to be.
const justStarted = 2 * time.Second

// pageOf is the address of the global dashboard, "" where it is not served. It
// waits for that of a background process that has just started, as the control
// socket is there before the port is.
func (p *program) pageOf(ctx context.Context, client *api.Client) (string, error) {
	for range justStarted / servedPoll {
		status, err := client.Status(ctx)
		switch {
		case err != nil:
			return "", err
		case status.Address != nil:
			return *status.Address, nil
		case status.StartedAt == nil || time.Since(*status.StartedAt) >= justStarted:
			return "", nil
		}
		if err := p.pause(ctx, servedPoll); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (p *program) openOwn(in *monitor.Instance) error {
	if in.State == monitor.StateZombie {
		p.say("%s may not answer: %s", in.Label(), cause(in))
	}
	return p.openAddress(in.DashboardURL)
}

func (p *program) openAddress(address string) error {
	if _, err := fmt.Fprintln(p.stdout, monitor.Clean(withoutToken(address))); err != nil {
		return err
	}
	if err := p.open(address); err != nil {
		return fmt.Errorf("%w; %s", err, p.byHand(address))
	}
	return nil
}

// byHand tells what to do about an address that was printed and that no browser
// could be started for. With a token in it, without which it would be refused, it
// is shown whole: on a terminal, which the user sees, and nowhere that is kept.
func (p *program) byHand(address string) string {
	if withoutToken(address) == address {
		return "open the address above yourself"
	}
	terminal := p.stdout
	switch {
	case p.screen.terminal:
	case p.errScreen.terminal:
		terminal = p.stderr
	default:
		return "the page wants a token here; run lamplighter open in a terminal, which shows the address that has it"
	}
	if _, err := fmt.Fprintln(terminal, monitor.Clean(address)); err != nil {
		return err.Error()
	}
	return "open the last address above yourself; it is for you alone, since whoever has it can do what you can on the page"
}
