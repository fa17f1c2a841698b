package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

func (p *program) workspaceScanVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "scan DIR…",
		Short: "Find git worktrees that are not needed any more",
		Long: `Finds the git worktrees of the repositories in and below directories, also those
that assistants have left in .claude/worktrees, .codex, .cursor and where temporary
files are: how large they are, when they were last used, and whether they are
merged, pushed, dirty, locked or in use. It changes nothing.

lamplighter workspace rm removes those that you name.`,
		Example: `  lamplighter workspace scan ~/projects
  lamplighter workspace scan --json . | jq -r '.worktrees[] | select(.removable) | .path'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("scan takes at least one directory; . is this one")
			}
			for _, dir := range args {
				if err := checkDir(dir); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: completeDirs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.workspaceScan(cmd.Context(), args, asJSON); err != nil {
				return fmt.Errorf("workspace scan: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) workspaceScan(ctx context.Context, args []string, asJSON bool) error {
	dirs := make([]string, len(args))
	for i, arg := range args {
		full, err := filepath.Abs(arg)
		if err != nil {
			return err
		}
		dirs[i] = full
	}
	m, err := p.manager()
	if err != nil {
		return err
	}
	var progress func(int, string)
	if line := p.progressLine(); line != nil {
		progress = func(found int, at string) {
			line(monitor.Plural(found, "worktree", "worktrees")+" found, looking in "+p.homely(at), false)
		}
	}
	found, err := m.Scan(ctx, dirs, progress)
	p.progress("")
	if err != nil {
		return workspace.Interrupted(ctx, err, "nothing was changed")
	}
	if asJSON {
		return p.printJSON(api.EncodeScanned(found))
	}
	for _, problem := range found.Problems {
		p.Say("%s", problem)
	}
	return p.print(p.staleTable(found.Worktrees, time.Now()))
}

const noWorktrees = "No worktrees there besides the repositories themselves.\n"

// staleTable draws worktrees for people: a line each, the largest first, below it
// what stands against removing it, and at the end all of them in one line with what
// removes those that nobody needs.
func (p *program) staleTable(list []workspace.Stale, now time.Time) string {
	if len(list) == 0 {
		return noWorktrees
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b workspace.Stale) int { return int(max(min(b.SizeBytes-a.SizeBytes, 1), -1)) })
	t := fittedTable{
		columns:  []string{"SIZE", "USED", "REMOVABLE", "STATE", "BRANCH", "MADE BY", "PATH"},
		right:    []string{"SIZE", "USED"},
		dropped:  []string{"MADE BY", "BRANCH", "STATE", "USED"},
		flexible: "PATH",
		width:    p.screen.width,
	}
	var total, free int64
	var removable []workspace.Stale
	for _, s := range list {
		row := []string{sizeOrDash(s.SizeBytes), monitor.Span(now.Sub(s.UsedAt)), "no", staleState(s), shown(s.Branch, jobMost), shown(s.MadeBy, clientMost), p.homely(s.Path)}
		below := s.Why
		if s.UsedAt.IsZero() {
			row[1] = "-"
		}
		total += max(s.SizeBytes, 0)
		if s.Removable {
			row[2], below = "yes", ""
			free += max(s.SizeBytes, 0)
			removable = append(removable, s)
		}
		t.rows, t.below = append(t.rows, row), append(t.below, below)
	}
	last := fmt.Sprintf("%s, %s; ", monitor.Plural(len(list), "worktree", "worktrees"), monitor.Memory(total))
	if len(removable) == 0 {
		return t.text() + last + "none can be removed without a loss.\n"
	}
	return t.text() + last + fmt.Sprintf("%d can be removed, %s:\n", len(removable), monitor.Memory(free)) + "  " + removeLine(removable) + "\n"
}

// staleState says in words what is known of a worktree.
func staleState(s workspace.Stale) string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{
		{s.Missing, "gone"}, {len(s.InUse) > 0, "in use"}, {s.Locked, "locked"}, {s.Dirty, "dirty"}, {s.Merged, "merged"},
		{!s.Merged && s.Pushed, "pushed"}, {!s.Merged && !s.Pushed && !s.Missing, "unpushed"},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

// mostNamed bounds how many paths stand in a command.
const mostNamed = 20

// removeLine is the command that removes worktrees, as a shell reads it.
func removeLine(list []workspace.Stale) string {
	words := []string{"lamplighter", "workspace", "rm"}
	for _, s := range list {
		if monitor.Clean(s.Path) != s.Path || len(words) > mostNamed {
			// A path that cannot be shown as it is would be another one.
			return `lamplighter workspace rm PATH…, with those that you choose of them`
		}
		words = append(words, shellWord(s.Path))
	}
	return strings.Join(words, " ")
}

// shellWord is a text that a shell reads as it is.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+.,/:@%=", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
