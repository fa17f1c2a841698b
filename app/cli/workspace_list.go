package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceListVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "list",
		Short:             "List the workspaces",
		Long:              "Lists the workspaces of all jobs, and says what will happen to each and when.",
		Args:              takes(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.workspaceList(cmd.Context(), asJSON); err != nil {
				return fmt.Errorf("workspace list: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) workspaceList(ctx context.Context, asJSON bool) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	list, err := m.List(ctx)
	if err != nil && len(list) == 0 {
		return err
	}
	if err != nil { // the others are to be seen nevertheless
		for _, problem := range each(err) {
			p.Say("%v", problem)
		}
	}
	if asJSON {
		encoded := make([]api.Workspace, len(list))
		for i, w := range list {
			encoded[i] = api.EncodeWorkspace(w)
		}
		return p.printJSON(struct {
			Workspaces []api.Workspace `json:"workspaces"`
		}{encoded})
	}
	return p.print(p.workspaceTable(list, time.Now()))
}

// each are the errors that one joins.
func each(err error) []error {
	if all, joined := err.(interface{ Unwrap() []error }); joined {
		return all.Unwrap()
	}
	return []error{err}
}

const noWorkspaces = "No workspaces. lamplighter workspace create --kind temp --from . --job NAME makes one.\n"

// jobMost is the limit of a job's name in a line.
const jobMost = 24

// workspaceTable draws workspaces for people: a line each, and below it what stands
// against its clean-up.
func (p *program) workspaceTable(list []workspace.Workspace, now time.Time) string {
	if len(list) == 0 {
		return noWorkspaces
	}
	t := fittedTable{
		columns:  []string{"ID", "JOB", "KIND", "SIZE", "AGE", "STATE", "THEN", "PATH"},
		right:    []string{"SIZE", "AGE"},
		dropped:  []string{"KIND", "STATE", "AGE", "SIZE"},
		flexible: "PATH",
		width:    p.screen.width,
	}
	for i := range list {
		w := &list[i]
		t.rows = append(t.rows, []string{
			shortID(w.ID), shown(w.Job, jobMost), string(w.Kind), sizeOrDash(w.SizeBytes), monitor.Span(now.Sub(w.CreatedAt)), stateOf(w), then(w, now), p.homely(w.Path),
		})
		below := ""
		if w.Problem != "" {
			below = "stays for now: " + w.Problem
		}
		t.below = append(t.below, below)
	}
	return t.text()
}

func sizeOrDash(bytes int64) string {
	if bytes < 0 {
		return "-"
	}
	return monitor.Memory(bytes)
}

func stateOf(w *workspace.Workspace) string {
	if w.State == workspace.Ready && w.DoneAt != nil {
		return "completed"
	}
	return string(w.State)
}

// then says in few words what will happen to a workspace, and when.
func then(w *workspace.Workspace, now time.Time) string {
	held := w.State == workspace.Ready && w.Cleanup != workspace.ByHand && w.Problem != ""
	if w.EndsAt == nil && !held {
		return "stays"
	}
	what := "tree removed"
	switch {
	case w.Cleanup == workspace.ToArchive:
		what = "archived"
	case w.Kind == workspace.Temp:
		what = "removed"
	}
	if held && w.EndsAt == nil {
		return what + " when nothing stands against it"
	}
	rest := w.EndsAt.Sub(now)
	switch {
	case rest <= 0:
		return what + " now"
	case w.Cleanup == workspace.AtCompletion && w.DoneAt == nil:
		return what + " at its end, or in " + monitor.Span(rest)
	}
	return what + " in " + monitor.Span(rest)
}

// fittedTable is a table that fits into a terminal: one column has what the others
// leave, and where that is too little columns are left out. Its texts are safe to
// show.
type fittedTable struct {
	columns  []string
	right    []string // that are aligned to the right
	dropped  []string // the least missed first
	flexible string   // is cut in its middle
	width    int      // of the terminal; 0: there is none, and nothing is cut
	rows     [][]string
	below    []string // a line below each row; "" is none
}

// flexibleLeast is how many columns the flexible one has at least.
const flexibleLeast = 20

func (t fittedTable) text() string {
	if t.width < narrowest {
		t.width = 0
	}
	widths := make([]int, len(t.columns))
	for i, name := range t.columns {
		widths[i] = len(name)
		for _, r := range t.rows {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(r[i]))
		}
	}
	room := func(without map[string]bool) int {
		left := t.width
		for i, name := range t.columns {
			if name != t.flexible && !without[name] {
				left -= widths[i] + 2
			}
		}
		return left
	}
	without := map[string]bool{}
	for _, name := range t.dropped {
		if t.width == 0 || room(without) >= flexibleLeast {
			break
		}
		without[name] = true
	}
	right := map[string]bool{}
	for _, name := range t.right {
		right[name] = true
	}
	var b strings.Builder
	line := func(cells []string) {
		var row strings.Builder
		for i, name := range t.columns {
			if without[name] {
				continue
			}
			cell, width := cells[i], widths[i]
			if name == t.flexible && t.width > 0 {
				width = min(width, max(room(without), 1))
				cell = monitor.Shorten(cell, width)
			}
			pad := strings.Repeat(" ", max(width-text.StringWidthWithoutEscSequences(cell), 0))
			if right[name] {
				row.WriteString(pad + cell + "  ")
			} else {
				row.WriteString(cell + pad + "  ")
			}
		}
		b.WriteString(cut(strings.TrimRight(row.String(), " "), t.width) + "\n")
	}
	line(t.columns)
	for i, r := range t.rows {
		for k, cell := range r {
			r[k] = cmp.Or(cell, "-")
		}
		line(r)
		if i < len(t.below) && t.below[i] != "" {
			b.WriteString(cut("  "+monitor.Clean(t.below[i]), t.width) + "\n")
		}
	}
	return b.String()
}
