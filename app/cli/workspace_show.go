package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceShowVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show ID",
		Short:             "Show a workspace and its versions",
		Args:              oneWorkspace,
		ValidArgsFunction: p.completeWorkspaces(1, anyWorkspace),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return p.onWorkspace(ctx, "show", args[0], func(m workspaceManager, w workspace.Workspace) error {
				return p.workspaceShow(ctx, m, w, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) workspaceShow(ctx context.Context, m workspaceManager, w workspace.Workspace, asJSON bool) error {
	versions, err := m.Versions(ctx, w.ID)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(api.EncodeShown(w, versions))
	}
	return p.print(p.workspaceFacts(w, time.Now()) + p.versionTable(versions))
}

// workspaceFacts are all that is to be known of a workspace.
func (p *program) workspaceFacts(w workspace.Workspace, now time.Time) string {
	used := "made " + ago(w.CreatedAt, now) + ", used " + ago(w.UsedAt, now)
	if w.DoneAt != nil {
		used += ", its job ended " + ago(*w.DoneAt, now)
	}
	size := "not measured yet"
	if w.SizeBytes >= 0 {
		size = monitor.Memory(w.SizeBytes) + " in " + monitor.Plural(w.Files, "file", "files")
	}
	due := ""
	if w.EndsAt != nil {
		due = inTime(*w.EndsAt, now)
	}
	list := facts{
		{"id", w.ID}, {"path", p.homely(w.Path)}, {"job", w.Job}, {"project", w.Project}, {"kind", string(w.Kind)}, {"state", stateOf(&w)},
		{"from", p.sourceWords(w.Source)}, {"branch", w.Source.Branch},
	}
	for _, s := range w.Shares {
		list = append(list, fact{"shares", s.To + ", which is " + p.homely(s.From)})
	}
	list = append(list, fact{"age", used}, fact{"size", size}, fact{"then", w.Ends}, fact{"due", due}, fact{"but", w.Problem})
	if w.Server != nil {
		list = append(list, fact{"server", w.Server.MCPURL + ", session " + strconv.Itoa(w.Server.SessionID)})
	}
	if w.Archive != nil {
		list = append(list, fact{"archive", p.homely(w.Archive.Path) + ", " + monitor.Memory(w.Archive.Bytes) + ", packed " + ago(w.Archive.At, now)})
	}
	list = append(list, fact{"TMPDIR", p.homely(w.TempDir)}, fact{"environment", p.homely(w.EnvFile)})
	return monitor.Clean(w.Name) + "\n" + list.text("  ")
}

// shortCommit is how much of a commit's name people read.
const shortCommit = 9

func (p *program) sourceWords(s workspace.Source) string {
	switch s.Kind {
	case workspace.FromGit:
		text := "git, " + p.homely(s.From)
		if s.Ref != "" {
			text += " at " + s.Ref
		}
		if s.Commit != "" {
			text += " (" + s.Commit[:min(len(s.Commit), shortCommit)] + ")"
		}
		return text
	case workspace.FromDirectory:
		return p.homely(s.From)
	}
	return "nothing"
}

// versionTable draws versions, oldest first.
func (p *program) versionTable(versions []workspace.Version) string {
	if len(versions) == 0 {
		return ""
	}
	t := fittedTable{
		columns: []string{"VERSION", "KEPT", "FILES", "SIZE", "MESSAGE"}, right: []string{"VERSION", "FILES", "SIZE"}, dropped: []string{"FILES", "SIZE"},
		flexible: "MESSAGE", width: p.screen.width,
	}
	for _, v := range versions {
		t.rows = append(t.rows, []string{
			strconv.Itoa(v.Number), v.At.Local().Format("2 Jan 2006 15:04"), strconv.Itoa(v.Files), monitor.Memory(v.Bytes), monitor.Clean(v.Message),
		})
	}
	return "\n" + t.text()
}

func ago(at, now time.Time) string { return monitor.Span(now.Sub(at)) + " ago" }

func inTime(at, now time.Time) string {
	if !at.After(now) {
		return "now"
	}
	return "in " + monitor.Span(at.Sub(now))
}
