package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/view"
)

// What is shown without --since.
const (
	eventsBack    = 24 * time.Hour
	eventsShown   = 200
	eventsAtFirst = 10 // when more is waited for
)

func (p *program) eventsVerb() *cobra.Command {
	var o eventsOptions
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print what happened",
		Long: `Prints what happened to the servers, newest last: that they started, activated
a project, needed attention, were stopped. Without --since it goes back a day.
Lamplighter writes this down while it runs; it need not run for this.`,
		Example: `  lamplighter events -f
  lamplighter events --since 2d
  lamplighter events --since yesterday --json | jq .kind`,
		Args:              takes(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.printEvents(cmd.Context(), o); err != nil {
				return fmt.Errorf("events: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on with what happens next, until interrupted")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON, one object per line")
	cmd.Flags().StringVar(&o.since, "since", "", "go back to `TIME`: "+events.SinceForms)
	_ = cmd.RegisterFlagCompletionFunc("since", cobra.FixedCompletions([]cobra.Completion{"1h", "1d", "7d", "today", "yesterday"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

type eventsOptions struct {
	follow, asJSON bool
	since          string
}

func (p *program) printEvents(ctx context.Context, o eventsOptions) error {
	now := time.Now()
	q := events.Query{Since: now.Add(-eventsBack), Last: eventsShown}
	if o.follow {
		q.Last = eventsAtFirst
	}
	if o.since != "" {
		since, err := events.ParseSince(o.since, now)
		if err != nil {
			return usageError{fmt.Errorf("--since: %w", err)}
		}
		q = events.Query{Since: since}
	}
	dir := p.Places().StateDir
	if dir == "" {
		return daemon.ErrNoStateDir
	}
	printer := eventPrinter{program: p, asJSON: o.asJSON}
	if o.follow {
		err := events.Follow(ctx, dir, q, printer.print)
		if ctx.Err() != nil {
			return nil // interrupted: the normal end
		}
		return err
	}
	list, err := events.Read(dir, q)
	if len(list.Events) == 0 && err == nil && !o.asJSON {
		_, err = fmt.Fprint(p.Stdout, nothingHappened(o.since))
	}
	return errors.Join(printer.print(list), err)
}

// recorder returns a function that writes an event down, for verbs that act without
// the background process. It says once that it cannot.
func (p *program) recorder() func(monitor.Event) {
	dir := p.Places().StateDir
	unusable := daemon.StateDirectory(dir)
	var mu sync.Mutex
	failed := false
	return func(e monitor.Event) {
		mu.Lock()
		defer mu.Unlock()
		err := unusable
		if err == nil {
			_, err = events.Write(dir, e)
		}
		if err != nil && !failed {
			failed = true
			p.Say("what happens is not written down (%v)", err)
		}
	}
}

func nothingHappened(since string) string {
	const writes = "Lamplighter writes down what happens while it runs (lamplighter run).\n"
	if since == "" {
		return "Nothing has happened in the last 24 hours; --since 7d goes further back.\n" + writes
	}
	return "Nothing has happened since then.\n" + writes
}

// eventPrinter prints events as they come in lists.
type eventPrinter struct {
	*program
	asJSON bool
	begun  bool
	label  int // columns of the widest label so far
}

func (p *eventPrinter) print(list events.List) error {
	if n := list.Skipped; n > 0 {
		p.Say("%s", monitor.Plural(n, "line of the lifecycle log cannot be read and was left out", "lines of the lifecycle log cannot be read and were left out"))
	}
	if len(list.Events) == 0 {
		return nil
	}
	var b strings.Builder
	for i := range list.Events {
		p.label = max(p.label, monitor.Columns(shortEventLabel(&list.Events[i])))
	}
	if !p.begun && !p.asJSON {
		p.begun = true
		p.label = max(p.label, len("SERVER"))
		b.WriteString(cut(p.line("TIME", "WHAT", "WHAT", "SERVER", "DETAIL"), p.screen.width) + "\n")
	}
	for _, e := range view.Events(list.Events) {
		if p.asJSON {
			line, err := api.Marshal(e.Event)
			if err != nil {
				return err
			}
			b.Write(append(line, '\n'))
			continue
		}
		if e.Words.Step {
			continue
		}
		shown := e.Words.What
		if p.screen.colour {
			shown = paintEvent(&e)
		}
		line := p.line(e.At.Local().Format(time.DateTime), e.Words.What, shown, shortEventLabel(&e.Event), e.Detail)
		b.WriteString(cut(line, p.screen.width) + "\n")
	}
	_, err := fmt.Fprint(p.Stdout, b.String())
	return err
}

// The widths of the columns before the detail, which gets the rest.
const (
	timeColumns  = len(time.DateTime)
	whatColumns  = len("heartbeat restored")
	labelColumns = 36
)

// line aligns one event. what is shown painted; its width is that of the word.
func (p *eventPrinter) line(at, what, painted, label, detail string) string {
	pad := func(s string, width int) string { return strings.Repeat(" ", max(width-monitor.Columns(s), 0)+2) }
	return strings.TrimRight(at+pad(at, timeColumns)+painted+pad(what, whatColumns)+label+pad(label, p.label)+detail, " ")
}

func shortEventLabel(e *monitor.Event) string { return monitor.Shorten(e.Label, labelColumns) }

// paintEvent is what happened in a colour: that of the state it leads to, or red where
// somebody should look.
func paintEvent(e *view.Event) string {
	switch {
	case e.Words.Look:
		return paint(monitor.StateZombie, e.Words.What)
	case e.Kind == monitor.EventWoken:
		return paint(monitor.StateProject, e.Words.What)
	}
	return paint(monitor.State(e.Words.Mark), e.Words.What)
}
