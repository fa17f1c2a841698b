package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

func (p *program) statusVerb() *cobra.Command {
	var asJSON, watch bool
	var by string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List all servers",
		Long: `Lists all servers, those that need attention first, says which of them will be
ended and why, and how much memory ended ones have given back. Works without the
background process, too, by looking at the processes itself.`,
		Example: `  lamplighter status
  lamplighter status --json | jq '.instances[].label'
  lamplighter status --by client
  lamplighter status --watch`,
		Args:              takes(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, known := groupings[by]; by != "" && !known {
				return usageError{fmt.Errorf("status groups by client or by project, not by %q", by)}
			}
			if watch {
				return p.statusWatch(cmd.Context(), by, asJSON)
			}
			v, client, err := p.lookAndStay(cmd.Context())
			if err != nil {
				return fmt.Errorf("status: %w", err)
			}
			if client != nil {
				defer client.Close()
			}
			if !asJSON {
				v.standing = standing(cmd.Context(), client, time.Now())
			}
			return p.printStatus(v, by, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as GET /global-dashboard/instances answers it")
	cmd.Flags().StringVar(&by, "by", "", "group the servers by client or by project, with totals")
	cmd.Flags().BoolVar(&watch, "watch", false, "go on, and print again after each change")
	return cmd
}

func (p *program) printStatus(v listing, by string, asJSON bool) error {
	text, err := p.statusText(v, by, asJSON)
	if err != nil {
		return err
	}
	if !asJSON {
		p.warn(v.warnings)
	}
	_, err = fmt.Fprint(p.Stdout, text)
	return err
}

func (p *program) statusText(v listing, by string, asJSON bool) (string, error) {
	if asJSON {
		line, err := api.Marshal(v.sent)
		return string(line) + "\n", err
	}
	return table(v.sent, time.Now(), by, p.screen) + v.standing, nil
}

func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		p.Say("%s", w)
	}
}

// statusWatch prints the status now and after each change until it is
// interrupted, which is its normal end. On a terminal it draws in place.
func (p *program) statusWatch(ctx context.Context, by string, asJSON bool) error {
	last := ""
	warned := false
	show := func(v listing) error {
		text, err := p.statusText(v, by, asJSON)
		if err != nil || text == last {
			return err
		}
		if !warned && !asJSON {
			p.warn(v.warnings)
			warned = true
		}
		first := last == ""
		last = text
		if p.OnScreen && !asJSON {
			text = p.screen.redraw(text, first)
		}
		_, err = fmt.Fprint(p.Stdout, text)
		return err
	}
	err := p.watchBackground(ctx, asJSON, show)
	if errors.Is(err, api.ErrUnreachable) && ctx.Err() == nil {
		p.explainScan(err)
		err = p.watchOurselves(ctx, show)
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("status: %w", err)
}

// watchBackground shows what the background process streams. It always ends
// with an error.
func (p *program) watchBackground(ctx context.Context, asJSON bool, show func(listing) error) error {
	client, health, err := api.Dial(ctx, p.Places().ControlSocket)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Stream(ctx, func(list api.Instances) error {
		v := received(list, health)
		if !asJSON {
			v.standing = standing(ctx, client, time.Now())
		}
		return show(v)
	})
}

// watchOurselves watches the processes without a background process. A scan
// comes first, so that something is shown also where nothing runs.
func (p *program) watchOurselves(ctx context.Context, show func(listing) error) error {
	v, err := p.scanned(ctx)
	if err != nil {
		return err
	}
	if err := show(v); err != nil {
		return err
	}
	return p.follow(ctx, func(s *monitor.Snapshot) error { return show(seen(s)) })
}
