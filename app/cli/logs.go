package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

const (
	logPoll    = time.Second      // between two looks at a log that is followed
	logPollMax = 10 * time.Second // while the instance does not answer
)

func (p *program) logsVerb() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs PID|PROJECT",
		Short: "Print a server's log",
		Long: `Prints the log of the server with that pid, port, id, project name or project
directory, as its dashboard shows it.`,
		Example: `  lamplighter logs my-project
  lamplighter logs -f 24284`,
		Args:              takes(1, 1, "one server: its pid, port or project"),
		ValidArgsFunction: p.completeInstances(1, hasLog),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.printLogs(cmd.Context(), args[0], follow); err != nil {
				return fmt.Errorf("logs: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is logged next, until the server ends")
	return cmd
}

func (p *program) printLogs(ctx context.Context, what string, follow bool) error {
	s, err := p.lookFor(ctx, what)
	if err != nil {
		return err
	}
	if !hasLog(s) {
		return fmt.Errorf("%s has no dashboard to read a log from (%s)", s.Label, s.WithoutDashboard())
	}
	next, err := p.printLogPage(ctx, *s.Port, 0)
	switch {
	case err == nil && !follow:
		return nil
	case err != nil && s.State == monitor.StateZombie:
		return fmt.Errorf("%s does not answer (%s): %w", s.Label, s.ReasonWords(), err)
	case err != nil:
		return fmt.Errorf("%s does not answer: %w", s.Label, err)
	}
	err = p.followLog(ctx, s, next)
	if ctx.Err() != nil {
		return nil // interrupted: the normal end
	}
	return err
}

// hasLog reports whether there is a dashboard to read a log from.
func hasLog(s *view.Server) bool {
	return s.Port != nil && s.Kind == monitor.KindSerena && !isDefunct(s)
}

// isDefunct reports whether only an entry in the process table is left of a server.
func isDefunct(s *view.Server) bool { return view.Value(s.Cause) == string(monitor.CauseDefunct) }

// followLog polls for what is logged after next until the instance ends. Every
// poll that fails, and every log that is shorter than it was, asks whether the
// instance is there at all: it may have been cleared, or be that of another
// instance that has the port now. While nothing answers, the polls become rarer.
func (p *program) followLog(ctx context.Context, s *view.Server, next int) error {
	wait := logPoll
	for {
		if err := p.Pause(ctx, wait); err != nil {
			return err
		}
		after, err := p.printLogPage(ctx, *s.Port, next)
		if err == nil && after >= next {
			next, wait = after, logPoll
			continue
		}
		var output outputError
		if ctx.Err() != nil || errors.As(err, &output) {
			return err
		}
		there, lookErr := p.stillServes(ctx, s)
		if lookErr != nil {
			return lookErr
		}
		if !there {
			p.Say("%s has ended", s.Label)
			return nil
		}
		if err == nil {
			next, wait = 0, logPoll // cleared
			continue
		}
		if wait == logPoll {
			p.Say("%s does not answer (%v); trying again", s.Label, err)
		}
		wait = min(2*wait, logPollMax)
	}
}

// stillServes reports whether the same instance is still behind its port.
func (p *program) stillServes(ctx context.Context, s *view.Server) (bool, error) {
	v, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	found := find(v.sent.Instances, string(s.ID))
	return len(found) == 1 && !isDefunct(found[0]) && (found[0].Port == nil || *found[0].Port == *s.Port), nil
}

// outputError means that our own output cannot be written any more.
type outputError struct{ error }

// printLogPage prints what is logged from index start on and returns the next
// index to ask for, which is smaller than start when the log was cleared.
func (p *program) printLogPage(ctx context.Context, port, start int) (next int, err error) {
	page, err := p.logs.Logs(ctx, port, start)
	if err != nil {
		return start, err
	}
	var b strings.Builder
	for _, m := range page.Messages {
		b.WriteString(strings.TrimSuffix(cleanLog(m), "\n") + "\n")
	}
	if _, err := fmt.Fprint(p.Stdout, b.String()); err != nil {
		return start, outputError{err}
	}
	return max(page.MaxIdx+1, 0), nil
}

// cleanLog drops what could disturb a terminal from a log message, which may
// have several lines. Bytes that are not UTF-8 become U+FFFD.
func cleanLog(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == utf8.RuneError:
			return utf8.RuneError
		case monitor.Unprintable(r):
			return -1
		}
		return r
	}, s)
}
