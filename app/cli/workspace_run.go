package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceRunVerb() *cobra.Command {
	var confine, commit bool
	var writable []string
	cmd := &cobra.Command{
		Use:   "run ID [flags] -- COMMAND [ARG…]",
		Short: "Run a job in a workspace",
		Long: `Runs a command in a workspace, with WORKSPACE set to its path and TMPDIR to its own
directory for temporary files. {workspace} in its arguments is replaced by the
path. The exit status is the job's, 128 and the number for a signal; 127
where there is no such command, 126 where it cannot be executed.

When the job has ended, a temp workspace is completed: it is taken away, unless
work would be lost. Of a hybrid one the tree goes, if it is as in its last version.

--confine keeps the job inside, on Linux: it can write the workspace, its own
temporary files and what --writable names; it sees the rest of your files, but no
other workspace and no other process, and has the network. Where the system cannot
do that the job is not run, and you are told why.

It writes nothing of the git repository that the workspace was made from, so it
makes no commit; do that afterwards. --commit allows it: then the job can write
all branches of workspaces, and all objects of the repository, which it could
damage or delete, and with them your history. Settings and hooks it can never
write.`,
		Example: `  lamplighter workspace run fix-login -- claude --add-dir {workspace}
  lamplighter workspace run fix-login --confine --writable ~/.cache -- make test`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch dash := cmd.ArgsLenAtDash(); {
			case dash < 0 || len(args) == dash:
				return errors.New("run takes a workspace, and behind -- the command, as in lamplighter workspace run fix-login -- make test")
			case dash != 1:
				return errors.New("run takes one workspace before the --: its id, name or job")
			case args[1] == "":
				return errors.New("the name of the command is empty")
			case len(writable) > 0 && !confine:
				return errors.New("--writable is for --confine; without that a job may write where you may")
			case commit && !confine:
				return errors.New("--commit is for --confine; without that a job may commit anyway")
			}
			for _, dir := range writable {
				if err := checkDir(dir); err != nil {
					return fmt.Errorf("--writable: %w", err)
				}
			}
			return named(args[0])
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault // programs and files
			}
			return p.completeWorkspaces(1, func(w workspace.Workspace) bool { return w.State == workspace.Ready })(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return p.onWorkspace(ctx, "run", args[0], func(m workspaceManager, w workspace.Workspace) error {
				return p.workspaceRun(ctx, m, w, workspace.Job{Command: args[1:], Confine: confine, Commit: commit, Writable: writable, Warn: p.warns})
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&confine, "confine", false, "let the job write nothing outside (Linux)")
	flags.BoolVar(&commit, "commit", false, "let a confined job commit; it could damage the repository's objects")
	flags.StringArrayVar(&writable, "writable", nil, "let a confined job write this `DIR`, too; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("writable", completeDirs)
	return cmd
}

// warns says what is to be known and ends nothing.
func (p *program) warns(text string) { p.Say("%s", text) }

// workspaceRun runs a job, whose status is ours.
func (p *program) workspaceRun(ctx context.Context, m workspaceManager, w workspace.Workspace, j workspace.Job) error {
	for i, dir := range j.Writable {
		full, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		j.Writable[i] = full
	}
	status, outcome, err := m.Run(ctx, w.ID, j)
	switch {
	case errors.Is(err, workspace.ErrNoCommand):
		return failedWith{err, statusNoCommand}
	case errors.Is(err, workspace.ErrNotExecutable):
		return failedWith{err, statusNotExecutable}
	case err != nil:
		return err
	}
	if outcome != nil && (!outcome.Done || outcome.Kept != "") { // that it has gone is what was to be expected
		fmt.Fprint(p.Stderr, p.outcomeText(monitor.Clean(w.Name), *outcome))
	}
	if status != statusFine {
		return toldError{statusError(status)}
	}
	return nil
}

// The exit statuses of shells for a command that cannot be started.
const (
	statusNotExecutable statusError = 126
	statusNoCommand     statusError = 127
)

// failedWith is a failure with an exit status of its own.
type failedWith struct {
	error
	status statusError
}

func (e failedWith) Unwrap() []error { return []error{e.error, e.status} }

func (p *program) workspaceCompleteVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "complete ID",
		Short: "Say that the job of a workspace has ended",
		Long: `Says that the job of a workspace has ended, and does what its clean-up says: a temp
one is taken away, of a hybrid one the tree, a persistent one stays. What stands
against that is told, and it is tried again later.`,
		Example:           `  lamplighter workspace complete fix-login`,
		Args:              oneWorkspace,
		ValidArgsFunction: p.completeWorkspaces(1, func(w workspace.Workspace) bool { return w.State == workspace.Ready }),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return p.onWorkspace(ctx, "complete", args[0], func(m workspaceManager, w workspace.Workspace) error {
				p.progress("Completing " + w.Name + "…")
				outcome, err := m.Complete(ctx, w.ID, "the command line")
				p.progress("")
				switch {
				case err != nil:
					return workspace.Interrupted(ctx, err, "lamplighter workspace show says how it is now")
				case asJSON:
					return p.printJSON(api.EncodeOutcome(outcome))
				}
				return p.print(p.outcomeText(monitor.Clean(w.Name), outcome))
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
