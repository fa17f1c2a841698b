package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/daemon"
	"lamplighter/app/workspace"
	"lamplighter/app/workspace/assistant"
	"lamplighter/monitor"
)

// workspaceManager is what the verbs work with, a *workspace.Manager.
type workspaceManager interface {
	assistant.Manager
	Run(ctx context.Context, id string, j workspace.Job) (status int, outcome *workspace.Outcome, err error)
}

// manager is what the verbs work with here.
func (p *program) manager() (workspaceManager, error) {
	if p.spaces != nil {
		return p.spaces()
	}
	m, err := p.workspaces()
	if err != nil {
		return nil, err // a nil *Manager would be no nil interface
	}
	return m, nil
}

func (p *program) workspaceVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workspace",
		Short: "A directory of its own for each job",
		Long: `Makes a directory for each job, from nothing, from a directory, or as a worktree of
a git repository, keeps versions of it, and takes it away in time: never while a
process works inside, and never with work that is nowhere else.

Of the three kinds temp is gone when its job ends, persistent stays and has
versions, and of hybrid the tree ends with the job and the versions stay.

A workspace is meant by its id, the short id at the end of its name, its name, or
its job. Lamplighter need not run for this; while it runs it takes away by itself
what is due.`,
		Example: `  lamplighter workspace create --kind temp --from . --job fix-login
  lamplighter workspace run fix-login -- claude --add-dir {workspace}
  lamplighter workspace list
  lamplighter workspace scan ~/projects`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("workspace takes one of create, list, show, run, keep, diff, archive, restore, complete, rm, scan, mcp")
			}
			return p.noSuchVerb(cmd, args)
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(
		p.workspaceCreateVerb(), p.workspaceListVerb(), p.workspaceShowVerb(), p.workspaceRunVerb(), p.workspaceKeepVerb(), p.workspaceDiffVerb(),
		p.workspaceArchiveVerb(), p.workspaceRestoreVerb(), p.workspaceCompleteVerb(), p.workspaceRemoveVerb(), p.workspaceScanVerb(), p.workspaceMCPVerb(),
	)
	return cmd
}

// oneWorkspace checks that a verb has one workspace for its argument.
func oneWorkspace(cmd *cobra.Command, args []string) error {
	if err := takes(1, 1, "one workspace: its id, name or job")(cmd, args); err != nil {
		return err
	}
	return named(args[0])
}

func named(what string) error {
	if what == "" {
		return errors.New("the name of the workspace is empty; lamplighter workspace list shows them")
	}
	return nil
}

// onWorkspace runs do with what a verb works with and the workspace that is meant.
func (p *program) onWorkspace(ctx context.Context, verb, what string, do func(m workspaceManager, w workspace.Workspace) error) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	w, err := m.Find(ctx, what)
	if err == nil {
		err = do(m, w)
	}
	p.progress("")
	var told toldError
	if err != nil && !errors.As(err, &told) {
		return fmt.Errorf("workspace %s: %w", verb, err)
	}
	return err
}

// lineEvery is the least time between two lines of progress.
const lineEvery = 100 * time.Millisecond

// progressOf is a function that shows progress in one line of a terminal, nil where
// nobody looks. what is said first: "alpha-fix-1a2b3c4d".
func (p *program) progressOf(what string) func(workspace.Progress) {
	line := p.progressLine()
	if line == nil {
		return nil
	}
	return func(at workspace.Progress) { line(what+": "+at.Words(), at.Percent == 100) }
}

// progressLine shows a line, seldom enough to be read, and at once when it is the
// last one. It is safe for concurrent use; nil where nobody looks.
func (p *program) progressLine() func(text string, last bool) {
	if !p.ErrOnScreen {
		return nil
	}
	var mu sync.Mutex
	var shown time.Time
	return func(text string, last bool) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); last || now.Sub(shown) >= lineEvery {
			shown = now
			p.progress(monitor.Clean(text))
		}
	}
}

// homely is a path for people, with ~ for the home directory.
func (p *program) homely(path string) string {
	return setupWords{home: p.Base.Home}.short(path)
}

// shortID is the end of an id, which is in names, too: the beginning tells the time
// and is the same for what was made in one minute.
func shortID(id string) string {
	const digits = 8
	return monitor.Clean(id[max(len(id)-digits, 0):])
}

// completeWorkspaces offers the names of those workspaces that fit, for up to most
// arguments.
func (p *program) completeWorkspaces(most int, fit func(workspace.Workspace) bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var offers []cobra.Completion
		given := strings.Join(args, "\x00")
		for _, w := range p.glanceAtWorkspaces(cmd.Context()) {
			if fit(w) && !strings.Contains(given, w.Name) {
				offers = append(offers, cobra.CompletionWithDesc(monitor.Clean(w.Name), monitor.Clean(fmt.Sprintf("%s, %s, %s", w.Job, w.Kind, w.State))))
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
}

func anyWorkspace(workspace.Workspace) bool { return true }

// glanceAtWorkspaces lists them for a completion: quick and silent.
func (p *program) glanceAtWorkspaces(ctx context.Context) []workspace.Workspace {
	ctx, cancel := context.WithTimeout(ctx, p.Limits.Glance)
	defer cancel()
	p.settingsTold = true
	m, err := p.manager()
	if err != nil {
		return nil
	}
	list, _ := m.List(ctx) // what can be read is enough here
	return list
}

// completeDirs offers directories.
func completeDirs(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// workspaces is what the verbs work with: the same as the background process does,
// and without it.
func (p *program) workspaces() (*workspace.Manager, error) {
	o, err := daemon.WorkspaceOptions(p.Places(), p.settings(), "the command line")
	if err != nil {
		return nil, err
	}
	o.Servers = daemon.TheirServers{Socket: p.Places().ControlSocket}
	return workspace.New(o), nil
}
