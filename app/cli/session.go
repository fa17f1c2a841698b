package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/app/launch"
	"lamplighter/app/session"
	"lamplighter/monitor"
)

func (p *program) sessionVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "A server of its own for one client",
		Long: `Starts a server for one client, which talks to it directly, and ends it again.
A session is named by the pid of its server. All of them end with lamplighter.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("session takes one of request, release, list")
			}
			return p.noSuchVerb(cmd, args)
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(p.sessionRequestVerb(), p.sessionReleaseVerb(), p.sessionListVerb())
	return cmd
}

func (p *program) sessionRequestVerb() *cobra.Command {
	var server string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "request DIR",
		Short: "Start a server for the project in a directory",
		Long: `Starts a server for the project in a directory, waits until it is ready, and
prints its address for MCP and its session. It runs until it is released, or
lamplighter ends.`,
		Example: `  lamplighter session request .
  claude mcp add --transport http serena $(lamplighter session request --json . | jq -r .mcp_url)`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := takes(1, 1, "one directory")(cmd, args); err != nil {
				return err
			}
			return checkDir(args[0])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.sessionRequest(cmd.Context(), args[0], server, asJSON); err != nil {
				return p.told(fmt.Errorf("session request: %w", err))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "start the server of this `NAME` under templates in the settings")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkDir refuses what cannot be the name of a directory that is asked for. It
// goes on as JSON, which holds UTF-8 alone.
func checkDir(dir string) error {
	switch {
	case dir == "":
		return errors.New("the name of the directory is empty; . is this one")
	case !utf8.ValidString(dir):
		return fmt.Errorf("the name %q is not UTF-8, so it cannot be asked for; rename the directory, or make a symbolic link to it", dir)
	}
	return nil
}

// told says what failed, with a line for each of the commands that were tried, and
// returns that it is said.
func (p *program) told(err error) error {
	parts := strings.Split(err.Error(), launch.TriedMark)
	p.fail("%s", parts[0])
	for _, tried := range parts[1:] {
		fmt.Fprintf(p.Stderr, "  %s\n", monitor.Clean(tried))
	}
	return toldError{err}
}

func (p *program) sessionRequest(ctx context.Context, dir, server string, asJSON bool) error {
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := checkDir(dir); err != nil { // of where we are, too
		return err
	}
	if dir, err = session.CheckPath(ctx, dir); err != nil {
		return err
	}
	p.progress("Starting a server for " + monitor.Clean(dir) + "…")
	given, err := client.RequestSession(ctx, api.SessionOrder{ProjectPath: dir, Server: server}, daemon.RequestTime)
	p.progress("")
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("interrupted; the server is not started, or ended again")
	case err != nil:
		return err
	}
	if err := p.printSession(ctx, client, given, asJSON); err != nil {
		return daemon.TakeBackSession(ctx, client, given.SessionID, err)
	}
	return nil
}

func (p *program) printSession(ctx context.Context, client *api.Client, given api.SessionGiven, asJSON bool) error {
	s, err := daemon.SessionOf(ctx, client, given)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(s)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\nsession %d\n", monitor.Clean(*s.MCPURL), given.SessionID)
	return err
}

func (p *program) sessionReleaseVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "release ID",
		Short:   "End a session's server, with everything it started",
		Example: `  lamplighter session release 4711`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := takes(1, 1, "one session: its id")(cmd, args); err != nil {
				return err
			}
			_, err := sessionID(args[0])
			return err
		},
		ValidArgsFunction: p.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.sessionRelease(cmd.Context(), args[0], asJSON); err != nil {
				return fmt.Errorf("session release: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func sessionID(text string) (int, error) {
	id, err := strconv.Atoi(text)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("%q is no id of a session; lamplighter session list shows them", monitor.Clean(text))
	}
	return id, nil
}

func (p *program) sessionRelease(ctx context.Context, text string, asJSON bool) error {
	id, err := sessionID(text)
	if err != nil {
		return err
	}
	client, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	p.progress("Ending session " + text + "…")
	released, err := client.ReleaseSession(ctx, id)
	p.progress("")
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; session %d is ended all the same", id)
	case errors.Is(err, api.ErrNoSession):
		return fmt.Errorf("there is no session %d; lamplighter session list shows them", id)
	case err != nil:
		return err
	case asJSON:
		return p.printJSON(released)
	}
	came := "Ended"
	if released.Status == session.AlreadyGone {
		came = "Ended already"
	}
	_, err = fmt.Fprintf(p.Stdout, "%s: session %d.\n", came, id)
	return err
}

// completeSessions offers the sessions that run.
func (p *program) completeSessions(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), p.Limits.Glance)
	defer cancel()
	list, err := p.sessions(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []cobra.Completion
	for _, s := range list.Sessions {
		if s.SessionID != nil {
			offers = append(offers, cobra.CompletionWithDesc(strconv.Itoa(*s.SessionID), monitor.Clean(s.Server+" for "+s.ProjectPath)))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

func (p *program) printJSON(v any) error {
	line, err := api.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", line)
	return err
}
