package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceKeepVerb() *cobra.Command {
	var message string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "keep ID -m MESSAGE",
		Short: "Keep the state of a workspace as a version",
		Long: `Keeps a persistent or hybrid workspace as it is, as a version with a number and a
message, which never changes. Files that are as before take no room again where
the file system can share them.`,
		Example: `  lamplighter workspace keep report -m "the numbers are right now"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := oneWorkspace(cmd, args); err != nil {
				return err
			}
			if strings.TrimSpace(message) == "" {
				return errors.New(`keep takes a message that says what is in it, as in -m "the numbers are right now"`)
			}
			return nil
		},
		ValidArgsFunction: p.completeWorkspaces(1, hasVersions),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return p.onWorkspace(ctx, "keep", args[0], func(m workspaceManager, w workspace.Workspace) error {
				v, err := m.Keep(ctx, w.ID, message, p.progressOf(w.Name))
				p.progress("")
				if err != nil {
					return workspace.Interrupted(ctx, err, "no version was made")
				}
				if asJSON {
					return p.printJSON(v)
				}
				left := ""
				if v.Left > 0 { // the history says which
					left = fmt.Sprintf(" %s left out, or changed all the while.", monitor.Plural(v.Left, "pipe, socket or file was", "pipes, sockets or files were"))
				}
				return p.print(fmt.Sprintf("Kept: version %d of %s, %s in %s.%s\n", v.Number, monitor.Clean(w.Name), monitor.Memory(v.Bytes), monitor.Plural(v.Files, "file", "files"), left))
			})
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "`MESSAGE` that says what is in it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("message", cobra.NoFileCompletions)
	return cmd
}

func hasVersions(w workspace.Workspace) bool { return w.Kind != workspace.Temp }

func (p *program) workspaceDiffVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff ID [FROM [TO]]",
		Short: "Show what differs between versions of a workspace",
		Long: `Shows what differs from version FROM to version TO. Without TO it is the tree as it
is now, without FROM the last version.`,
		Example: `  lamplighter workspace diff report
  lamplighter workspace diff report 1 3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := takes(1, 3, "a workspace and at most two versions")(cmd, args); err != nil {
				return err
			}
			if err := named(args[0]); err != nil {
				return err
			}
			for _, arg := range args[1:] {
				if _, err := versionNumber(arg); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: p.completeVersions(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return p.onWorkspace(ctx, "diff", args[0], func(m workspaceManager, w workspace.Workspace) error {
				return p.workspaceDiff(ctx, m, w, args[1:], asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func versionNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number of a version; lamplighter workspace show lists them", monitor.Clean(text))
	}
	return n, nil
}

func (p *program) workspaceDiff(ctx context.Context, m workspaceManager, w workspace.Workspace, numbers []string, asJSON bool) error {
	var between [2]int // the second is 0 for the tree
	for i, text := range numbers {
		n, err := versionNumber(text)
		if err != nil {
			return err
		}
		between[i] = n
	}
	if between[0] == 0 {
		versions, err := m.Versions(ctx, w.ID)
		switch {
		case err != nil:
			return err
		case len(versions) == 0:
			return fmt.Errorf("%s has no versions to compare with; lamplighter workspace keep makes one", w.Name)
		}
		between[0] = versions[len(versions)-1].Number
	}
	changes, err := m.Diff(ctx, w.ID, between[0], between[1])
	if err != nil {
		return workspace.Interrupted(ctx, err, "nothing was changed")
	}
	if asJSON {
		return p.printJSON(struct {
			From    int                `json:"from"`
			To      int                `json:"to"`
			Changes []workspace.Change `json:"changes"`
		}{between[0], between[1], append([]workspace.Change{}, changes...)})
	}
	return p.print(p.changesText(changes))
}

// changesText are changes for people and, where they are not on a terminal, for
// patch: then the lines are as they are.
func (p *program) changesText(changes []workspace.Change) string {
	var b strings.Builder
	for _, c := range changes {
		if c.Diff == "" {
			fmt.Fprintf(&b, "%s: %s\n", monitor.Clean(c.What), monitor.Clean(c.Path))
			continue
		}
		if !p.OnScreen {
			b.WriteString(c.Diff)
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(c.Diff, "\n"), "\n") {
			line = diffText(line)
			if p.screen.colour {
				line = paintDiff(line, i < 2)
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// completeVersions offers a workspace and then, for up to most arguments, its
// versions.
func (p *program) completeVersions(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return p.completeWorkspaces(1, hasVersions)(cmd, args, word)
		}
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.versionsOf(cmd.Context(), args[0]), cobra.ShellCompDirectiveNoFileComp
	}
}

// versionsOf offers the versions of a workspace: quick and silent.
func (p *program) versionsOf(ctx context.Context, what string) []cobra.Completion {
	ctx, cancel := context.WithTimeout(ctx, p.Limits.Glance)
	defer cancel()
	p.settingsTold = true
	m, err := p.manager()
	if err != nil {
		return nil
	}
	w, err := m.Find(ctx, what)
	if err != nil {
		return nil
	}
	versions, _ := m.Versions(ctx, w.ID) // what can be read is enough here
	var offers []cobra.Completion
	for _, v := range versions {
		offers = append(offers, cobra.CompletionWithDesc(strconv.Itoa(v.Number), monitor.Clean(v.Message)))
	}
	return offers
}
