package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lamplighter/app/daemon"
	"lamplighter/installer"
	"lamplighter/monitor"
)

func (p *program) uninstallVerb() *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take Lamplighter away again",
		Long: `Ends Lamplighter and takes away what install has brought, and what Lamplighter has
written since. Your settings stay; with --purge nothing does. What you have changed
of an installed file stays, too, and you are told.

Clients that run lamplighter-connect could not start their servers any more: it is
taken out of their settings when you agree, whoever wrote it there, and so is one that
is gone already. --undo-setup and --keep-setup say so beforehand, and where nobody can
be asked one of them is needed. While it cannot be taken out of all settings, nothing
is uninstalled; you are told which.

Workspaces are your work and stay. With --purge they are removed as by lamplighter
workspace rm: it is refused where work would be lost, unless with --force, and while
a process works inside.

Of a package only your part is taken away.`,
		Example: `  lamplighter uninstall
  lamplighter uninstall --dry-run
  lamplighter uninstall --yes --undo-setup
  lamplighter uninstall --purge`,
		Args:              func(cmd *cobra.Command, args []string) error { return o.check(cmd, args) },
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.uninstall(daemon.WithHangup(cmd.Context()), o); err != nil {
				return fmt.Errorf("uninstall: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&o.purge, "purge", false, "take away settings and workspaces, too")
	flags.BoolVar(&o.dryRun, "dry-run", false, "show every file and every command, and change nothing")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.undoSetup, "undo-setup", false, "take lamplighter-connect out of your clients' settings")
	flags.BoolVar(&o.keepSetup, "keep-setup", false, "leave your clients' settings as they are")
	flags.BoolVar(&o.force, "force", false, "with --purge: remove workspaces with work that is nowhere else")
	flags.BoolVar(&o.keepPrograms, "keep-programs", false, "leave the programs where they are")
	return cmd
}

// uninstallOptions are what the command line says.
type uninstallOptions struct{ purge, dryRun, yes, undoSetup, keepSetup, force, keepPrograms bool }

func (o uninstallOptions) check(cmd *cobra.Command, args []string) error {
	if err := takes(0, 0, "no argument")(cmd, args); err != nil {
		return err
	}
	switch {
	case o.undoSetup && o.keepSetup:
		return errors.New("uninstall takes either --undo-setup or --keep-setup")
	case o.force && !o.purge:
		return errors.New("--force is about workspaces, which stay without --purge; leave it out")
	}
	return nil
}

// uninstallRun is one run of the verb.
type uninstallRun struct {
	*program
	installer *installer.Installer
	options   uninstallOptions
	belongs   installer.Installation
	plan      installer.Plan
	running   *running // nil for none
	silent    error    // one runs that does not answer, or that cannot be told
	setup     *setupLeft
	spaces    spacesLeft
	left      []string // programs that nothing is known of, and that stay
}

// uninstall is the verb.
func (p *program) uninstall(ctx context.Context, o uninstallOptions) error {
	if err := p.mayInstall(); err != nil {
		return err
	}
	r := &uninstallRun{program: p, installer: p.Installer(), options: o}
	if err := r.look(ctx); err != nil {
		return undone(ctx, err)
	}
	if r.nothing() {
		return r.isNotHere()
	}
	if o.dryRun {
		return r.show()
	}
	if r.silent != nil {
		return r.silent
	}
	if o.purge {
		if why := r.spaces.refusal(p, o.force); why != nil {
			return why
		}
	}
	if r.setup.any() && !o.undoSetup && !o.keepSetup && p.keyboard == nil {
		return r.setup.undecided()
	}
	if yes, err := r.agreed(ctx); err != nil || !yes {
		return err
	}
	return r.carryOut(ctx)
}

// look finds out all that is to be decided by, and changes nothing.
func (r *uninstallRun) look(ctx context.Context) error {
	var err error
	r.belongs, _ = r.installer.Installed() // the plan tells of a receipt that cannot be used
	r.plan, err = r.installer.PlanUninstall(ctx, installer.UninstallOptions{Purge: r.options.purge, KeepPrograms: r.options.keepPrograms})
	if err != nil {
		return err
	}
	r.plan.Notes = append(r.plan.Notes, r.linkedSettings()...)
	if r.left = r.programsLeft(); len(r.left) > 0 {
		r.plan.Notes = append(r.plan.Notes, r.leftWords())
	}
	var silent daemon.SilentError
	switch r.running, err = r.findRunning(ctx); {
	case errors.As(err, &silent):
		r.silent = silent
	case err != nil:
		return err
	}
	if r.setup, err = r.lookAtSetup(ctx); err != nil {
		return err
	}
	r.spaces, err = r.lookAtSpaces(ctx)
	return err
}

// nothing reports whether there is nothing to do.
func (r *uninstallRun) nothing() bool {
	return len(r.plan.Changes) == 0 && !r.belongs.Unfinished && r.running == nil && r.silent == nil && !r.setup.any() && len(r.spaces.going) == 0 && len(r.spaces.strays) == 0
}

// show is the dry run.
func (r *uninstallRun) show() error {
	text := ""
	if r.setup.any() {
		how := "Would ask whether to take lamplighter-connect out of"
		switch {
		case r.options.undoSetup:
			how = "Would take lamplighter-connect out of"
		case r.options.keepSetup:
			how = "Would leave lamplighter-connect in"
		case r.keyboard == nil:
			how = "Needs --undo-setup or --keep-setup, since lamplighter-connect is in"
		}
		text += how + ":\n" + r.setup.text()
	}
	if r.running != nil {
		text += fmt.Sprintf("Would end the Lamplighter that runs%s.\n", daemon.PIDInWords(r.running.pid))
	}
	if len(r.spaces.going) > 0 {
		text += "Would remove workspaces:\n" + r.spaces.goingText(r.program)
	}
	text += planText("Would", r.plan.Changes, false) + r.stays() + notesText(r.plan.Notes)
	if err := r.print(text + "Nothing was changed.\n"); err != nil {
		return err
	}
	switch {
	case r.silent != nil:
		return fmt.Errorf("this would be refused now: %w", r.silent)
	case r.options.undoSetup && r.setup.stuck() != nil:
		return fmt.Errorf("this would be refused now: %w", r.setup.stuck())
	case r.options.purge:
		return r.spaces.refusal(r.program, r.options.force)
	}
	return nil
}

// agreed shows what will be done, and asks where somebody can be asked.
func (r *uninstallRun) agreed(ctx context.Context) (bool, error) {
	if r.keyboard == nil {
		return true, nil
	}
	if !r.options.yes {
		if err := r.print(r.summary()); err != nil {
			return false, err
		}
		switch yes, err := r.yes(ctx, "Uninstall Lamplighter?"); {
		case err != nil:
			return false, err
		case !yes:
			return false, r.print("Nothing was changed.\n")
		}
	}
	if r.setup.any() && !r.options.undoSetup && !r.options.keepSetup {
		if err := r.print("These entries run lamplighter-connect, which goes now:\n" + r.setup.text()); err != nil {
			return false, err
		}
		yes, err := r.yes(ctx, "Take it out of them, so that your clients start their servers themselves?")
		if err != nil {
			return false, err
		}
		r.options.undoSetup, r.options.keepSetup = yes, !yes
	}
	return true, nil
}

// summary says in a few lines what goes and what stays.
func (r *uninstallRun) summary() string {
	files, text := 0, ""
	for _, c := range r.plan.Changes {
		switch c.Op {
		case installer.OpRemove, installer.OpDeleteValue:
			files++
		case installer.OpRemoveTree:
			text += shownLine(c) + "\n"
		}
	}
	if files > 0 {
		text = fmt.Sprintf("  remove %s that were installed\n", monitor.Plural(files, "file", "files")) + text
	}
	if r.running != nil {
		text = fmt.Sprintf("  end the Lamplighter that runs%s\n", daemon.PIDInWords(r.running.pid)) + text
	}
	if n := len(r.spaces.going); n > 0 {
		text += fmt.Sprintf("  remove %s\n", monitor.Plural(n, "workspace", "workspaces"))
	}
	return "This will:\n" + text + r.stays() + notesText(r.plan.Notes) + "lamplighter uninstall --dry-run shows every file.\n"
}

// stays says what of the user's is left.
func (r *uninstallRun) stays() string {
	text := ""
	if dir := r.Installation("").ConfigDir; dir != "" && !r.options.purge {
		if _, err := os.Lstat(dir); err == nil {
			text += "Your settings stay: " + r.homely(dir) + "\n"
		}
	}
	if named := r.Places(); named.ConfigNamed && r.options.purge {
		if _, err := os.Lstat(named.Config); err == nil {
			text += "Your settings lie elsewhere, and stay: " + r.homely(named.Config) + "\n"
		}
	}
	return text + r.spaces.stayText(r.program)
}

// carryOut takes it away, and says what came of it.
func (r *uninstallRun) carryOut(ctx context.Context) error {
	// The questions may have stood for long.
	if err := r.lookAgain(ctx); err != nil {
		return undone(ctx, err)
	}
	if r.setup.any() && r.options.undoSetup {
		if err := r.setup.undo(ctx, r.program); err != nil {
			r.Say("uninstall: lamplighter-connect was not taken out of all settings, so that Lamplighter is still there")
			return err
		}
	}
	if err := r.endAll(ctx); err != nil {
		return fmt.Errorf("%w; nothing was removed", interrupted(ctx, err))
	}
	if err := r.lookAgain(ctx); err != nil {
		return r.stopped(interrupted(ctx, err))
	}
	if err := r.spaces.remove(ctx, r.program, r.options); err != nil {
		return r.stopped(interrupted(ctx, err))
	}
	if err := r.endAll(ctx); err != nil { // it may have been started meanwhile, and would lose what it uses
		return r.stopped(interrupted(ctx, err))
	}
	err := r.installer.Do(ctx, r.plan, func(c installer.Change, err error) {
		if err != nil {
			r.Say("uninstall: not done: %s: %v", c, err)
		}
	})
	if err != nil {
		return interrupted(ctx, err)
	}
	text := "Lamplighter is uninstalled.\n"
	if r.belongs.Kind == installer.Package && !r.options.keepPrograms {
		text = "What Lamplighter has written for you is removed.\n"
	}
	text += r.stays()
	if r.setup.any() && r.options.keepSetup {
		text += "These entries still run lamplighter-connect:\n" + r.setup.text()
	}
	return r.print(text + notesText(r.plan.Notes))
}

// interrupted puts an interruption into words.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted")
	}
	return err
}

// connectOf is the path of the lamplighter-connect that is taken away.
func (r *uninstallRun) connectOf() string {
	if main := programOf(r.belongs, r.Self); main != "" && (r.belongs.Programs.Connect == "" || main != r.belongs.Programs.Main) {
		return filepath.Join(filepath.Dir(main), daemon.ConnectName+filepath.Ext(main))
	}
	return r.belongs.Programs.Connect
}
