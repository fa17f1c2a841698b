package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceArchiveVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "archive ID",
		Short: "Pack a workspace into an archive",
		Long: `Packs all of a workspace, its versions too, into a .tar.zst and takes its tree away.
lamplighter workspace restore brings it back.`,
		Example:           `  lamplighter workspace archive report`,
		Args:              oneWorkspace,
		ValidArgsFunction: p.completeWorkspaces(1, func(w workspace.Workspace) bool { return w.State != workspace.Archived }),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return p.onWorkspace(ctx, "archive", args[0], func(m workspaceManager, w workspace.Workspace) error {
				w, err := m.Archive(ctx, w.ID, p.progressOf(w.Name))
				p.progress("")
				if err != nil {
					return workspace.Interrupted(ctx, err, "lamplighter workspace show says how it is now")
				}
				if asJSON {
					return p.printJSON(api.EncodeWorkspace(w))
				}
				text := "Archived: " + monitor.Clean(w.Name)
				if a := w.Archive; a != nil {
					text += ", " + monitor.Memory(a.Bytes) + ", in " + p.homely(a.Path)
				}
				return p.print(text + "\n")
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) workspaceRestoreVerb() *cobra.Command {
	var version int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore ID",
		Short: "Bring back a workspace or a version of it",
		Long: `Brings back an archived workspace or, with --version, puts a version into the tree,
which is made again where it has gone. What is in the tree and in no version is
kept as a version before, so that nothing is lost.`,
		Example: `  lamplighter workspace restore report
  lamplighter workspace restore report --version 2`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := oneWorkspace(cmd, args); err != nil {
				return err
			}
			if cmd.Flags().Changed("version") && version < 1 {
				return errors.New("versions are numbered from 1; lamplighter workspace show lists them")
			}
			return nil
		},
		ValidArgsFunction: p.completeWorkspaces(1, func(w workspace.Workspace) bool { return w.State == workspace.Archived || hasVersions(w) }),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return p.onWorkspace(ctx, "restore", args[0], func(m workspaceManager, w workspace.Workspace) error {
				w, err := m.Restore(ctx, w.ID, version, p.progressOf(w.Name))
				p.progress("")
				if err != nil {
					return workspace.Interrupted(ctx, err, "lamplighter workspace show says how it is now")
				}
				if asJSON {
					return p.printJSON(api.EncodeWorkspace(w))
				}
				return p.print(fmt.Sprintf("Restored: %s, in %s\n", monitor.Clean(w.Name), p.homely(w.Path)))
			})
		},
	}
	cmd.Flags().IntVar(&version, "version", 0, "put version `N` into the tree")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("version", func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.versionsOf(cmd.Context(), args[0]), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}
