package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/app/doctor"
	"lamplighter/app/launch"
	"lamplighter/monitor/view"
)

func (p *program) doctorVerb() *cobra.Command {
	var asJSON bool
	var record string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything, and say what to do",
		Long: `Checks how Lamplighter is installed, every way to start Serena and why one does
not work, the PATH, the desktop, ports, files, settings, the registry, and which
servers are in the settings of MCP clients. Each line says what was found, and
below it what that means and what to do.

Nothing is changed. It exits with 1 when something is broken.

With --record it checks nothing. It writes the servers with the processes around
them and what is decided about them to a file, without secrets, for the report of
a wrong decision.`,
		Example: `  lamplighter doctor
  lamplighter doctor --record situation.json
  lamplighter doctor --json | jq '.lines[] | select(.mark == "broken")'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if asJSON && record != "" {
				return errors.New("a recording has one form; leave --json out")
			}
			return takes(0, 0, "no argument")(cmd, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if record != "" {
				return p.record(cmd.Context(), record)
			}
			return p.printDoctor(cmd.Context(), asJSON)
		},
	}
	cmd.Flags().StringVar(&record, "record", "", "write the situation of this machine to `FILE`, for a report")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// errBroken makes the exit status of a report in which something is broken,
// which is all that there is to say about it.
var errBroken = toldError{errors.New("something is broken")}

func (p *program) printDoctor(ctx context.Context, asJSON bool) error {
	report := doctor.Examine(ctx, p.examined())
	if ctx.Err() != nil {
		return fmt.Errorf("doctor: %w", ctx.Err())
	}
	var text string
	if asJSON {
		line, err := api.Marshal(report)
		if err != nil {
			return err
		}
		text = string(line) + "\n"
	} else {
		// A console of Windows takes any character, whatever the variables say.
		text = report.Text(doctor.Style{
			ASCII:  !doctor.UTF8(p.Getenv) && (!wideConsole || !p.OnScreen),
			Colour: p.screen.colour, Width: p.screen.width,
		})
	}
	if _, err := io.WriteString(p.Stdout, text); err != nil {
		return err
	}
	if report.Broken() {
		return errBroken
	}
	return nil
}

// examined is what the doctor looks at.
func (p *program) examined() doctor.Options {
	home := p.Base.Home
	directory, err := os.Getwd()
	if err != nil {
		directory = "" // then no project is looked at
	}
	o := doctor.Options{
		Version: p.Version, Self: p.Self, Home: home, Places: p.Places(), Environ: os.Environ(), Directory: directory,
		Installer: p.Installer(),
		Finder: func(environ []string) doctor.Finder {
			// Without a state directory: what is found is remembered nowhere.
			return launch.NewFinder(launch.FinderOptions{Environ: environ, Home: home, Log: slog.New(slog.DiscardHandler)})
		},
		Scan: func(ctx context.Context) ([]*view.Server, error) {
			s, err := p.scan(ctx)
			if err != nil {
				return nil, err
			}
			return view.All(s), nil
		},
	}
	connect, err := p.BesideUs(daemon.ConnectName)
	if err != nil {
		connect = "" // of which there is a line of its own
	}
	// What counts is the environment of this command, as for the verb setup, and not
	// that of the background process.
	if settings, err := p.settingsOfClients(connect); err == nil { // else there is no home directory
		o.Clients = settings
	}
	return o
}
