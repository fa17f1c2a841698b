package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceRemoveVerb() *cobra.Command {
	var o removeOptions
	cmd := &cobra.Command{
		Use:   "rm ID|PATH…",
		Short: "Remove workspaces, or git worktrees that are not needed any more",
		Long: `Removes workspaces with their versions, and git worktrees that lamplighter workspace
scan has found, through git. What contains a / or is a directory here is a path.

It is refused, with what would be lost, when there is work that is nowhere else:
files that are not committed, commits that are on no other branch and no remote,
and what differs from the last version. --force removes it all the same. While a
process works inside nothing is removed, also with --force. Commits are never
lost: a branch with commits of its own stays.`,
		Example: `  lamplighter workspace rm fix-login
  lamplighter workspace rm --dry-run ~/alpha/.claude/worktrees/*`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("rm takes at least one workspace or path, as in lamplighter workspace rm fix-login")
			}
			for _, arg := range args {
				if err := named(arg); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if strings.ContainsRune(word, filepath.Separator) || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "~") {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return p.completeWorkspaces(many, anyWorkspace)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.workspaceRemove(cmd.Context(), args, o); err != nil {
				return fmt.Errorf("workspace rm: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&o.force, "force", false, "remove also what would be lost")
	flags.BoolVar(&o.dryRun, "dry-run", false, "remove nothing, and say what would be removed and lost")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

type removeOptions struct{ force, dryRun, asJSON bool }

// removedWorkspace is what came of one argument, also in JSON.
type removedWorkspace struct {
	Argument string `json:"argument"`
	api.WorkspaceOutcome
}

func (p *program) workspaceRemove(ctx context.Context, args []string, o removeOptions) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	q := workspace.Removal{Force: o.force, DryRun: o.dryRun, By: "the command line"}
	results := make([]removedWorkspace, len(args))
	failed := false
	for i, arg := range args {
		var outcome workspace.Outcome
		err := errors.New("interrupted before its turn; it is left as it is")
		if ctx.Err() == nil {
			p.progress("Removing " + p.homely(arg) + "…")
			outcome, err = removeOne(ctx, m, arg, q)
			p.progress("")
		}
		r := removedWorkspace{arg, api.EncodeOutcome(outcome)}
		switch {
		case err != nil:
			r.Error = err.Error()
		case r.Why != "" && !r.Done: // of a dry run
			r.Error = r.Why
		}
		results[i] = r
		failed = failed || r.Error != ""
		if r.Error != "" {
			p.Say("workspace rm: %s: %s", p.homely(arg), r.Error)
		}
		if o.asJSON || r.Error != "" {
			continue
		}
		label := p.homely(arg)
		if !isPath(arg) && outcome.Workspace.Name != "" {
			label = monitor.Clean(outcome.Workspace.Name)
		}
		if err := p.print(p.outcomeText(label, outcome)); err != nil {
			return err
		}
	}
	if o.asJSON {
		if err := p.printJSON(struct {
			Results []removedWorkspace `json:"results"`
		}{results}); err != nil {
			return err
		}
	}
	if failed {
		return toldError{errors.New("not all were removed")}
	}
	return nil
}

// removeOne removes what an argument means: a path, or a workspace.
func removeOne(ctx context.Context, m workspaceManager, arg string, q workspace.Removal) (workspace.Outcome, error) {
	if !isPath(arg) {
		w, err := m.Find(ctx, arg)
		if err == nil {
			return m.Remove(ctx, w.ID, q)
		}
		if _, there := os.Lstat(arg); there != nil || !errors.Is(err, workspace.ErrUnknown) {
			return workspace.Outcome{}, err
		}
	}
	path, err := filepath.Abs(arg)
	if err != nil {
		return workspace.Outcome{}, err
	}
	return m.RemoveStale(ctx, path, q)
}

// isPath reports whether an argument can be nothing but a path. A workspace has the
// same name as a directory here where that was made in it.
func isPath(arg string) bool {
	return arg == "." || arg == ".." || strings.ContainsRune(arg, filepath.Separator) || strings.Contains(arg, "/")
}

// outcomeText is what was done, or would be, and what stays.
func (p *program) outcomeText(label string, o workspace.Outcome) string {
	line := label + ": " + monitor.Clean(o.What)
	if o.Freed > 0 && (o.Done || o.DryRun) {
		gives := "given back"
		if o.DryRun {
			gives = "would be given back"
		}
		line += ", " + monitor.Memory(o.Freed) + " " + gives
	}
	line += "\n"
	if o.DryRun && o.Loss != nil && o.Loss.Words != "" && o.Why == "" {
		line += "  would be lost: " + monitor.Clean(o.Loss.Words) + "\n"
	}
	if o.Why != "" && !o.DryRun {
		line += "  " + monitor.Clean(o.Why) + "\n"
	}
	if o.Kept != "" {
		line += "  stays: " + p.homely(o.Kept) + "\n"
	}
	return line
}
