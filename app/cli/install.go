package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/installer"
	"lamplighter/monitor"
)

func (p *program) installVerb() *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install Lamplighter for you, and start it at login",
		Long: `Puts the programs where they stay, has Lamplighter started at login, and starts
it. It is for the user who runs it, and needs no root. Where a package has brought
the programs they stay where they are.

Run again it brings the installation up to the program that runs it: settings and
history stay, shared servers go on, and the running Lamplighter is replaced. What
cannot be done is undone: nothing is ever half installed. A file of the same name
that somebody else has written is left alone; --replace puts it aside, as
FILE.lamplighter-backup.`,
		Example: `  lamplighter install
  lamplighter install --dry-run
  lamplighter install --no-login
  lamplighter install --headless`,
		Args:              func(cmd *cobra.Command, args []string) error { return o.check(cmd, args) },
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.install(daemon.WithHangup(cmd.Context()), o); err != nil {
				return fmt.Errorf("install: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&o.dryRun, "dry-run", false, "show every file and every command, and change nothing")
	flags.BoolVar(&o.inPlace, "in-place", false, "leave the programs where they are")
	flags.BoolVar(&o.headless, "headless", false, "start without a desktop: for machines that have none")
	flags.BoolVar(&o.noLogin, "no-login", false, "do not start at login")
	flags.BoolVar(&o.noStart, "no-start", false, "do not start it now, and leave the one that runs")
	flags.BoolVar(&o.replace, "replace", false, "put aside files of others that are in the way")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show each change; with --dry-run with the contents of files")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// installOptions are what the command line says.
type installOptions struct{ dryRun, inPlace, headless, noLogin, noStart, replace, verbose, asJSON bool }

func (o installOptions) check(cmd *cobra.Command, args []string) error {
	if err := takes(0, 0, "no argument")(cmd, args); err != nil {
		return err
	}
	if o.headless && o.noLogin {
		return errors.New("--headless says how it starts by itself; leave --no-login out")
	}
	return nil
}

// installRun is one run of the verb.
type installRun struct {
	*program
	installer *installer.Installer
	options   installOptions
	before    installer.Installation
	plan      installer.Plan
	running   *running // before anything was done, nil for none
	managed   bool     // the user's systemd has started it
	silent    error    // one runs that does not answer
	// foreign are units of others that are active and whose files ours take the place of.
	foreign []string
}

// install is the verb.
func (p *program) install(ctx context.Context, o installOptions) error {
	if err := p.mayInstall(); err != nil {
		return err
	}
	r := &installRun{program: p, installer: p.Installer(), options: o}
	var err error
	r.before, _ = r.installer.Installed() // the plan tells of a receipt that cannot be used, or fails by it
	r.plan, err = r.installer.PlanInstall(ctx, installer.InstallOptions{
		InPlace: o.inPlace, Headless: o.headless, NoLogin: o.noLogin, Replace: o.replace,
	})
	if err != nil {
		return undone(ctx, err)
	}
	var silent daemon.SilentError
	switch r.running, err = p.findRunning(ctx); {
	case errors.As(err, &silent):
		r.silent = silent
	case err != nil:
		return undone(ctx, err)
	}
	r.plan.Notes = append(r.plan.Notes, r.unseenVariables()...)
	if r.running != nil && !r.visible() {
		r.managed = p.IsService(ctx, r.running.pid)
	}
	r.foreign = p.activeUnits(ctx, replacedUnits(r.plan.Changes))
	if o.dryRun {
		return r.show()
	}
	return r.carryOut(ctx)
}

// unseenVariables notes what of our environment nobody has who starts at login.
func (r *installRun) unseenVariables() []string {
	var set []string
	for _, name := range []string{"LAMPLIGHTER_STATE_DIR", "LAMPLIGHTER_CONFIG", "LAMPLIGHTER_CONTROL_SOCKET", "LAMPLIGHTER_SOCKET"} {
		if r.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 || r.options.noLogin {
		return nil
	}
	note := "What starts at login does not have " + strings.Join(set, " and ") + " of this terminal, and goes without."
	if runtime.GOOS == "linux" {
		note += " For it to have that, write it into " + r.homely(daemon.InDir(r.Base.ConfigHome, "environment.d", "lamplighter.conf")) + ", and log in again."
	}
	return []string{note}
}

// undone puts an interruption into words. Nothing was changed before it, or all was
// taken back.
func undone(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted; nothing was changed")
	}
	return err
}

// show is the dry run.
func (r *installRun) show() error {
	if r.options.asJSON {
		return r.printJSON(r.json(r.plan.Changes, true, nil, nil))
	}
	text := planText("Would", r.plan.Changes, r.options.verbose)
	if text == "" {
		text = "Lamplighter " + r.Version + " is installed already.\n"
	} else {
		text += "To remember that, install.json and install.lock are kept in " + r.homely(r.Places().StateDir) + ".\n"
	}
	if next := r.next(); next != "" {
		text += next + "\n"
	}
	text += notesText(r.plan.Notes)
	if r.isRoot() {
		text += rootNote + "\n"
	}
	return r.print(text + "Nothing was changed.\n")
}

// next is what would become of the running one, in a sentence.
func (r *installRun) next() string {
	first := ""
	if len(r.foreign) > 0 {
		first = "Would first stop what runs as " + strings.Join(r.foreign, " and ") + ", which is not Lamplighter's.\n"
	}
	switch r.step() {
	case stepRestart:
		return first + fmt.Sprintf("Would then restart the Lamplighter that runs%s.", daemon.PIDInWords(r.running.pid))
	case stepStart:
		return first + "Would then start it."
	}
	switch {
	case r.options.noStart:
	case r.silent != nil:
		return "Would not start it: " + r.silent.Error() + "."
	case r.stale():
		return r.goesOn()
	}
	return ""
}

// goesOn says what becomes of one that is not replaced now.
func (r *installRun) goesOn() string {
	until := "you quit it"
	if r.installer.Login().On || r.options.dryRun && !r.options.noLogin {
		until = "the next login"
	}
	return fmt.Sprintf("Lamplighter %s still runs%s, and goes on until %s.", monitor.Clean(r.running.version), daemon.PIDInWords(r.running.pid), until)
}

// step is what becomes of the background process behind an installation.
type step string

const (
	stepNone    step = ""
	stepStart   step = "start"
	stepRestart step = "restart"
)

func (r *installRun) step() step {
	return nextStep(startFacts{
		no: r.options.noStart, silent: r.silent != nil, runs: r.running != nil, stale: r.stale(), managed: r.managed, visible: r.visible(),
	})
}

// visible reports whether what is started here has a desktop for its icon, or wants none.
func (r *installRun) visible() bool {
	return daemon.DesktopIn(runtime.GOOS, r.Getenv) || r.options.headless || r.before.Receipt != nil && r.before.Receipt.Headless
}

// startFacts are what nextStep decides by.
type startFacts struct {
	no      bool // the user wants neither
	silent  bool // one runs that does not answer
	runs    bool // one runs that does
	stale   bool // and it is not the program that is installed then
	managed bool // and the user's systemd has started it, which knows the desktop
	visible bool // there is a desktop, or none is wanted
}

// nextStep leaves what runs alone when it is the same program: clients have servers
// of it. Without a desktop, as over ssh, it starts with the next login, where its icon
// can be seen, and one that was started by hand is not replaced by one without an icon.
func nextStep(f startFacts) step {
	switch {
	case f.no, f.silent:
		return stepNone
	case f.runs && f.stale && (f.visible || f.managed):
		return stepRestart
	case !f.runs && f.visible:
		return stepStart
	}
	return stepNone
}

// stale reports whether what runs is another program than the one that is installed
// when the plan has been carried out.
func (r *installRun) stale() bool {
	if r.running == nil {
		return false
	}
	if r.running.version != r.Version {
		return true
	}
	for _, c := range r.plan.Changes {
		if c.Op == installer.OpCopy && strings.HasPrefix(monitor.ProgramName(c.Path), api.Program) {
			return true
		}
	}
	main := programOf(r.before, r.Self)
	// One that was not recognised need not be the process that it says it is.
	if r.running.exe != "" {
		if other, known := runsOther(r.running.pid, main); known {
			return other
		}
	}
	return r.running.exe != "" && main != "" && !daemon.SameFile(filepath.Dir(r.running.exe), filepath.Dir(main))
}

// programOf is the program that an installation starts.
func programOf(in installer.Installation, self string) string {
	if in.Kind != installer.Package && in.Receipt != nil && in.Receipt.Program != "" {
		return in.Receipt.Program
	}
	if in.Programs.Main != "" {
		return in.Programs.Main
	}
	return self
}
