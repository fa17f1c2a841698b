package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func (p *program) pinVerb() *cobra.Command {
	return p.pinning(true, &cobra.Command{
		Use:   "pin ID|PID|PROJECT…",
		Short: "Let nothing end servers unless it is forced",
		Long: `Pins the servers with these pids, ports, ids, project names or project
directories: no policy ends them, and an order to stop them has to be forced. A
pin goes with its server, and holds also when lamplighter is started again.`,
		Example: `  lamplighter pin 24284
  lamplighter pin alpha beta`,
	})
}

func (p *program) unpinVerb() *cobra.Command {
	return p.pinning(false, &cobra.Command{
		Use:     "unpin ID|PID|PROJECT…",
		Short:   "Take a pin back: policies may end the servers again",
		Long:    `Takes back what "lamplighter pin" does.`,
		Example: `  lamplighter unpin alpha`,
	})
}

// pinning completes the verb that pins, or takes that back.
func (p *program) pinning(pinned bool, cmd *cobra.Command) *cobra.Command {
	var asJSON bool
	name := cmd.Name()
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s takes at least one server: its pid, port, id or project, as in lamplighter %s 24284", name, name)
		}
		return nil
	}
	cmd.ValidArgsFunction = p.completeInstances(many, func(s *view.Server) bool { return s.Pinned != pinned })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := p.pinAll(cmd.Context(), args, pinned, asJSON); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// pinResult is what came of one server, also on the wire of --json.
type pinResult struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Pinned bool   `json:"pinned"` // now, as far as we know
	Error  string `json:"error,omitempty"`
}

// pinAll pins what the arguments mean, or takes that back, through the
// background process where that runs, so that every view shows it.
func (p *program) pinAll(ctx context.Context, args []string, pinned, asJSON bool) error {
	done := "unpinned"
	if pinned {
		done = "pinned"
	}
	v, client, err := p.lookToChange(ctx)
	if err != nil {
		return fmt.Errorf("nothing was %s: %w", done, err)
	}
	servers, err := chooseAll(v.sent.Instances, args, done)
	if err != nil {
		return err
	}
	pin := func(s *view.Server) error { return client.Pin(ctx, string(s.ID), pinned) }
	if client != nil {
		defer client.Close()
	} else {
		record := p.recorder()
		store := p.pins()
		pin = func(s *view.Server) error {
			in := v.found(s)
			before := store.Pinned(in.Identity)
			err := store.Set(in.Identity, pinned)
			if err == nil && before != pinned {
				record(monitor.PinEvent(in, pinned, "the command line", time.Now()))
			}
			return err
		}
	}
	results := make([]pinResult, len(servers))
	var failure error
	for i, s := range servers {
		r := pinResult{ID: string(s.ID), Label: s.Label, Pinned: pinned}
		err := pin(s)
		if err != nil {
			r.Pinned, r.Error = s.Pinned, err.Error()
			if failure == nil || errors.Is(err, api.ErrUnreachable) {
				failure = fmt.Errorf("not all were %s: %w", done, err)
			}
		}
		results[i] = r
		switch {
		case asJSON:
		case err != nil:
			p.Say("Not %s: %s: %v.", done, s.Label, err)
		default:
			words := strings.ToUpper(done[:1]) + done[1:] + ": " + monitor.Clean(s.Label) + "."
			if _, more, found := strings.Cut(s.PinnedWords(), "; "); pinned && found {
				words += " " + monitor.Sentence(more)
			}
			if err := p.print(words + "\n"); err != nil {
				return err
			}
		}
	}
	if asJSON {
		if err := p.printJSON(struct {
			Results []pinResult `json:"results"`
		}{results}); err != nil {
			return err
		}
	}
	if failure != nil {
		return toldError{failure}
	}
	return nil
}
