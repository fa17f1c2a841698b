package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lamplighter/app/config"
	"lamplighter/monitor"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/view"
)

func (p *program) nameVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "name PID NAME",
		Short: "Say that a child of a client is a server, and what it is called",
		Long: `Says that what a client talks to over pipes is a server: a rule for it is
written into the settings, by which it and its like are recognised from then on.`,
		Example:           `  lamplighter name 4711 notes`,
		Args:              takes(2, 2, "a pid and a name"),
		ValidArgsFunction: p.completeInstances(1, unsure),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] == "" {
				return usageError{errors.New("name: the name is empty; to hide it: lamplighter hide " + args[0])}
			}
			if err := p.addRule(cmd.Context(), args[0], args[1]); err != nil {
				return fmt.Errorf("name: %w", err)
			}
			return nil
		},
	}
}

func (p *program) hideVerb() *cobra.Command {
	return &cobra.Command{
		Use:               "hide PID",
		Short:             "Say that a child of a client is no server",
		Long:              `Says that what a client talks to over pipes is no server: it and its like are not shown from then on. A rule is written into the settings.`,
		Example:           `  lamplighter hide 4711`,
		Args:              takes(1, 1, "a pid"),
		ValidArgsFunction: p.completeInstances(1, unsure),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.addRule(cmd.Context(), args[0], ""); err != nil {
				return fmt.Errorf("hide: %w", err)
			}
			return nil
		},
	}
}

// unsure reports whether nobody knows what a server is.
func unsure(s *view.Server) bool { return s.OnPipes }

// addRule writes a rule into the settings by which the process that is meant, and its
// like, are known: as servers with this name, or with "" as none.
func (p *program) addRule(ctx context.Context, what, name string) error {
	s, err := p.lookFor(ctx, what)
	if err != nil {
		return err
	}
	id, err := monitor.ParseIdentity(string(s.ID))
	if err != nil {
		return err
	}
	info, err := p.Process(id.PID)
	if err != nil {
		return fmt.Errorf("what %s runs cannot be told: %w", s.Label, err)
	}
	r, err := rules.ForChild(&monitor.Instance{Identity: id, Kind: s.Name(), ProjectName: s.Name(), OnPipes: s.OnPipes}, info, name)
	if err != nil {
		return err
	}
	if err := config.AddServer(p.Places().Config, r); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "Wrote the rule %q for %s into %s.\n", r.Name, s.Label, monitor.Clean(p.Places().Config))
	return err
}
