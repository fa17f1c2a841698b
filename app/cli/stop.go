package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

func (p *program) stopVerb() *cobra.Command {
	var o stopOptions
	cmd := &cobra.Command{
		Use:   "stop ID|PID|PROJECT…",
		Short: "End servers, with everything they started",
		Long: `Ends the servers with these pids, ports, ids, project names or project
directories, or those that --idle, --orphans, --suspected or --all mean, and everything
they have started: they are asked to end, then told to (SIGTERM), then killed, and it
is checked that all of it is gone.

Nothing is ended when one of the names is unknown or means several servers. What
is pinned, at work, in use or managed by a service is ended with --force only;
what runs this command, what belongs to another user and what is not known to be
an MCP server is never ended. With --force, --idle and --orphans mean the same
servers as without it.

A suspected orphan is one whose client nobody saw leave, and whose pipes nobody
holds at the other end: no policy ends it, and --suspected does. On a terminal
--suspected, --others and --all ask first.

How long a server has had no call, and whether its client has left it, is known
only to who watches it: for --idle and --orphans lamplighter has to run.`,
		Example: `  lamplighter stop 24284
  lamplighter stop alpha beta --dry-run
  lamplighter stop --idle
  lamplighter stop --client codex
  lamplighter stop alpha --client "Claude Code"
  lamplighter stop --all --dry-run
  lamplighter stop --force 4711`,
		Args:              func(_ *cobra.Command, args []string) error { return o.check(args) },
		ValidArgsFunction: p.completeInstances(many, func(s *view.Server) bool { return !s.OnPipes }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.stopAll(cmd.Context(), args, o); err != nil {
				return fmt.Errorf("stop: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&o.idle, "idle", false, "end the servers without a call for the time of the settings, else 30 min")
	flags.BoolVar(&o.orphans, "orphans", false, "end the servers that their client has left")
	flags.BoolVar(&o.suspected, "suspected", false, "end the servers whose pipes nobody holds at the other end; asks first")
	flags.BoolVar(&o.all, "all", false, "end all servers")
	flags.StringVar(&o.others, "others", "", "end the servers that are the same as `SERVER`, of the same client, and keep that one")
	flags.StringVar(&o.client, "client", "", "end only the servers of this client, such as codex; without names, all of them")
	flags.BoolVar(&o.force, "force", false, "end also what is pinned, at work, in use or managed by a service")
	flags.BoolVar(&o.dryRun, "dry-run", false, "check everything, and say what would be done and on what that rests")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "with --dry-run, say of each server why it is not meant")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

type stopOptions struct {
	idle, orphans, suspected, all, force, dryRun, verbose, yes, asJSON bool

	restart bool // they are started again

	client string // only its servers; "" for those of all
	others string // the one to keep of several that are the same; "" for no such order
}

// check refuses what names no server, or names some in two ways.
func (o stopOptions) check(args []string) error {
	groups := 0
	for _, given := range []bool{o.idle, o.orphans, o.suspected, o.all, o.others != ""} {
		if given {
			groups++
		}
	}
	switch {
	case groups > 1:
		return errors.New("stop takes one of --idle, --orphans, --suspected, --others and --all")
	case groups == 1 && len(args) > 0:
		return errors.New("stop takes either servers or one of --idle, --orphans, --suspected, --others and --all")
	case groups == 0 && len(args) == 0 && o.client == "":
		return errors.New("stop takes at least one server: its pid, port, id or project, as in lamplighter stop 24284; or --idle, --orphans, --suspected, --others, --client or --all")
	}
	return nil
}

// what names the servers that the options mean, "" when the arguments do.
func (o stopOptions) what() policy.Rule {
	switch {
	case o.idle:
		return policy.Idle
	case o.orphans:
		return policy.Orphans
	case o.all:
		return policy.Everything
	}
	return "" // those that are named or suspected, or a client's
}

// rule is what each server has to be still just before its end, "" when nothing.
func (o stopOptions) rule() policy.Rule {
	if w := o.what(); w != policy.Everything {
		return w
	}
	return ""
}

// stopAll ends what the arguments or the options mean, through the background
// process where that runs, so that its model and its events are right.
func (p *program) stopAll(ctx context.Context, args []string, o stopOptions) error {
	v, client, err := p.lookAndStay(ctx)
	if err != nil {
		return err
	}
	if client != nil {
		defer client.Close()
	}
	d := &decider{program: p, client: client, servers: v.sent.Instances, seen: v.scan, repeated: v.sent.Repeated, options: o}
	if o.client != "" {
		if d.servers, err = ofClient(v.sent.Instances, o.client); err != nil {
			return err
		}
		if o.what() == "" && !o.suspected && o.others == "" && len(args) == 0 {
			d.options.all = true
		}
	}
	var targets []*stopped
	switch {
	case o.suspected:
		targets = d.suspected()
	case o.others != "":
		targets, err = d.others()
	case d.options.what() == "":
		targets, err = d.named(ctx, args)
	default:
		targets, err = d.meant(ctx)
	}
	if err != nil {
		return err
	}
	if yes, err := p.agreed(ctx, targets, o); !yes || err != nil {
		return err
	}
	end := func(ctx context.Context, r *stopped) (api.Killed, error) {
		return client.Kill(ctx, r.ID, api.KillOrder{Force: o.force, DryRun: o.dryRun, Rule: o.rule()})
	}
	if client == nil {
		ladder := p.ladder(p.recorder())
		end = func(ctx context.Context, r *stopped) (api.Killed, error) {
			result, err := ladder.Stop(ctx, *v.found(r.server), stop.Order{Force: o.force, DryRun: o.dryRun, By: "the command line", Confirm: d.confirm(r.ID)})
			return api.AnswerTo(result, err), nil
		}
	}
	if err := p.endAll(ctx, targets, o, d.nothingMeant, end); err != nil {
		return err
	}
	return d.oneLook(targets)
}

// agreed shows what an order for all, for suspected servers or for the others means, and
// asks where somebody can be asked. Without an answer only one for all is followed.
func (p *program) agreed(ctx context.Context, targets []*stopped, o stopOptions) (bool, error) {
	var list strings.Builder
	count, used := 0, 0
	for _, r := range targets {
		if r.leftAlone {
			continue
		}
		count++
		if o.suspected {
			list.WriteString("  " + r.Label + ": " + monitor.Clean(view.Value(r.server.Reason)) + "\n")
		} else if r.server.Loser(clientMost, clientMost) != "" {
			used++
		}
	}
	switch {
	case count == 0 || o.yes || o.dryRun || !o.suspected && !o.all && o.others == "":
		return true, nil
	case (p.keyboard == nil || o.asJSON) && !o.all:
		return false, usageError{errors.New("stop: nobody can be asked here, and nothing was ended; add --yes to end what --dry-run shows")}
	case p.keyboard == nil || o.asJSON:
		return true, nil
	}
	question := "End " + monitor.Plural(count, "server", "servers")
	if used > 0 {
		question += fmt.Sprintf(", %d of them in use by a client", used)
	}
	if err := p.print(list.String()); err != nil {
		return false, err
	}
	yes, err := p.yes(ctx, question+"?")
	if err != nil || yes {
		return yes, err
	}
	return false, p.print("Nothing was ended.\n")
}

// chooseAll finds the servers that all arguments mean, each once, or says what
// is wrong with all that are wrong, and that nothing was done.
func chooseAll(all []*view.Server, args []string, done string) ([]*view.Server, error) {
	var targets []*view.Server
	var wrong []string
	for _, what := range args {
		s, err := choose(all, what)
		switch {
		case err != nil:
			wrong = append(wrong, err.Error())
		case !slices.Contains(targets, s):
			targets = append(targets, s)
		}
	}
	if len(wrong) > 0 {
		if len(args) > 1 {
			wrong = append(wrong, "nothing was "+done)
		}
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return targets, nil
}

// endAll ends the targets that are not left alone and prints what came of each,
// in their order, or that there are none.
func (p *program) endAll(ctx context.Context, targets []*stopped, o stopOptions, none func() string, end func(context.Context, *stopped) (api.Killed, error)) error {
	done := make([]chan struct{}, len(targets))
	places := make(chan struct{}, daemon.AtOnce)
	var running sync.WaitGroup
	defer running.Wait()
	for i, r := range targets {
		done[i] = make(chan struct{})
		if r.leftAlone {
			close(done[i])
			continue
		}
		running.Go(func() {
			defer close(done[i])
			places <- struct{}{}
			defer func() { <-places }()
			r.end(ctx, end)
		})
	}
	doing, what := "Ending", "ended"
	if o.restart {
		doing, what = "Restarting", "restarted"
	}
	failed, lost := false, false
	for i, r := range targets {
		if !r.leftAlone {
			p.progress(doing + " " + r.Label + "…")
			<-done[i]
			p.progress("")
		}
		failed, lost = failed || r.failed(o), lost || r.lost
		if !o.asJSON {
			if err := p.printStopped(r, o); err != nil {
				return err
			}
		}
	}
	switch {
	case o.asJSON:
		if err := p.printJSON(struct {
			Results []*stopped `json:"results"`
		}{append([]*stopped{}, targets...)}); err != nil {
			return err
		}
	case len(targets) == 0:
		if _, err := fmt.Fprintln(p.Stdout, none()); err != nil {
			return err
		}
	}
	switch {
	case !failed:
		return nil
	case lost:
		return toldError{fmt.Errorf("not all were %s: %w", what, api.ErrUnreachable)}
	}
	return toldError{errors.New("not all were " + what)}
}

// progress says on a terminal what is waited for, in a line that the next one
// takes the place of.
func (p *program) progress(text string) {
	if p.ErrOnScreen {
		fmt.Fprint(p.Stderr, "\r\x1b[K"+cut(text, p.errScreen.width-1))
	}
}
