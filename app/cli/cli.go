// Package cli is the command line: one file per verb. The background process,
// which is what the verb run is, is app/daemon.
//
// Nothing is decided here about instances: the verbs show snapshots, which they
// get from the background process (app/api) or, where that does not run, by a
// scan of their own (monitor/watch).
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/app/workspace/confine"
	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

// The exit statuses of every verb.
const (
	statusFine        = 0
	statusFailed      = 1
	statusUsage       = 2
	statusUnreachable = 69 // EX_UNAVAILABLE of sysexits.h
)

// program is one run of the command line with everything it touches outside.
type program struct {
	daemon.Program
	screen screen // of standard output
	// errScreen is that of standard error, where progress is shown.
	errScreen screen
	// keyboard is standard input where somebody types it, else nil.
	keyboard io.Reader

	scan   func(ctx context.Context) (*monitor.Snapshot, error)                // once
	follow func(ctx context.Context, each func(*monitor.Snapshot) error) error // after each change, until ctx ends
	ladder func(record func(monitor.Event)) api.Stopper                        // without a background process
	logs   logReader

	alert func(text string) // shows why the program ends to who cannot read standard error; nil when one can

	// spaces is what the verb workspace works with; nil: the workspaces of the
	// settings.
	spaces func() (workspaceManager, error)

	// become runs another program in our place. It returns when that is not
	// possible or, where the system knows no such thing, with the exit status.
	become func(path string, args []string) (status int, err error)

	// launch starts a program that outlives us, and tells when it has ended.
	launch func(path string, args ...string) (ended <-chan error, err error)
	// terminate asks a process to end, and does not wait for it.
	terminate func(ctx context.Context, id monitor.Identity) error
	// account is whose account this process has, as far as files are concerned.
	account func(home string) account

	settingsTold bool // what is wrong with them
}

// logReader reads an instance's log: monitor/serena.
type logReader interface {
	Logs(ctx context.Context, port int, start int) (serena.LogPage, error)
}

// Main runs the program with the arguments after its name and returns the exit
// status. linked is the version that the linker was given, if any.
func Main(linked string, args []string) int {
	if inside, status := confine.Main(args); inside { // before there is anything that would be left to a job
		return status
	}
	// Libraries (net/http) write remarks about strange peers to the standard
	// logger, whose output is our standard error. Errors reach us without it.
	log.SetOutput(io.Discard)
	p := newProgram(versionOf(linked))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program the hard way.
	context.AfterFunc(ctx, stop)
	defer stop()
	return p.main(ctx, args)
}

func (p *program) main(ctx context.Context, args []string) int {
	// Cobra refuses to run when Explorer starts it; a tray program is started
	// just like that.
	cobra.MousetrapHelpText = ""

	// Whatever fails before a verb begins is wrong usage.
	began := false
	root := p.root()
	// The library writes help and completions, and keeps to itself that it cannot.
	out := &output{to: p.Stdout}
	root.SetOut(out)
	root.PersistentPreRun = func(*cobra.Command, []string) { began = true }
	root.SetArgs(args)
	verb, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil && out.failed != nil:
		p.fail("%v", out.failed)
		return statusFailed
	case err == nil:
		return statusFine
	case !began:
		p.fail("%s", seeHelp(err.Error(), verb.CommandPath()))
		return statusUsage
	}
	var told toldError
	if !errors.As(err, &told) {
		p.fail("%s", oneLine(err))
	}
	var usage usageError
	var status statusError
	switch {
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		return statusUsage
	case errors.Is(err, api.ErrUnreachable):
		return statusUnreachable
	}
	return statusFailed
}

// output notes the first failure of what is written, and takes nothing more then. Who
// writes is not told: the library would call it wrong usage, or say it its own way.
type output struct {
	to     io.Writer
	failed error
}

func (w *output) Write(b []byte) (int, error) {
	if w.failed == nil {
		_, w.failed = w.to.Write(b)
	}
	return len(b), nil
}

// oneLine puts an error into one line, also several that were joined.
func oneLine(err error) string {
	var each []string
	for line := range strings.Lines(err.Error()) {
		if line = monitor.Clean(line); line != "" {
			each = append(each, line)
		}
	}
	return strings.Join(each, "; ")
}

// seeHelp ends what is said of wrong usage, which may be a question, with where the
// right one is.
func seeHelp(text, verb string) string {
	if strings.HasSuffix(text, "?") {
		return text + " See " + verb + " --help"
	}
	return text + "; see " + verb + " --help"
}

// usageError is wrong usage that only a verb itself can see.
type usageError struct{ error }

// toldError is a failure that the verb has told of already.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lamplighter",
		Short: "One lamp per MCP server on this machine",
		Long: `Lamplighter shows the MCP servers that your coding assistants have started:
in the tray, and here. Without a verb it starts in the background of your
desktop, like "lamplighter run".

Exit status: 0 fine, 1 failed, 2 wrong usage, 69 the background process cannot
be reached.`,
		Args:              p.noSuchVerb,
		RunE:              func(cmd *cobra.Command, _ []string) error { return p.Run(cmd.Context()) },
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           p.Version,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate(p.versionLine() + "\n")
	p.runFlags(root)
	root.AddCommand(p.runVerb(), p.statusVerb(), p.openVerb(), p.logsVerb(), p.eventsVerb(), p.stopVerb(), p.restartVerb(), p.pinVerb(), p.unpinVerb(), p.nameVerb(), p.hideVerb(), p.sessionVerb(), p.connectVerb(), p.setupVerb(), p.workspaceVerb(), p.installVerb(), p.uninstallVerb(), p.doctorVerb(), p.versionVerb())
	root.SetHelpCommand(helpVerb(root))
	// Made by the library, which would take an unknown shell for a question.
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}

// noSuchVerb refuses arguments of the bare command: they are misspelt verbs.
func (p *program) noSuchVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no verb %q", monitor.Clean(args[0]))
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

// takes checks the number of a verb's arguments. what says in words what the
// verb wants.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s", cmd.Name(), what)
		}
		return nil
	}
}

// helpVerb is cobra's, except that an unknown topic is an error.
func helpVerb(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Help about any verb",
		Args: func(_ *cobra.Command, args []string) error {
			if found, rest, err := root.Find(args); err != nil || (found == root && len(rest) > 0) {
				return fmt.Errorf("there is no help about %q", monitor.Clean(strings.Join(args, " ")))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			found, _, err := root.Find(args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

func (p *program) shownConfig() string {
	if path := p.Places().Config; path != "" {
		return path
	}
	return "none, there is no home directory"
}

// fail says why the program ends.
func (p *program) fail(format string, args ...any) {
	p.Say(format, args...)
	if p.alert != nil {
		p.alert(monitor.Clean(fmt.Sprintf(format, args...)))
	}
}
