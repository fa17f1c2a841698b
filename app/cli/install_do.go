package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/installer"
	"lamplighter/monitor"
)

// errNotRunning makes the exit status where it is installed and does not run as it
// should, which has been told.
var errNotRunning = toldError{errors.New("it is installed, and was not started")}

// carryOut installs, starts, and says what came of it.
func (r *installRun) carryOut(ctx context.Context) error {
	// Before that, since systemd does not listen for a service that runs already.
	if err := r.stopForeign(ctx); err != nil {
		return err
	}
	done, err := r.do(ctx)
	if err != nil {
		return errors.Join(undone(ctx, err), r.startForeign(ctx))
	}
	after, err := r.installer.Installed()
	if err != nil {
		r.Say("install: %v", err)
	}
	if !r.options.asJSON {
		if err := r.print(r.installed(after)); err != nil {
			return isInstalled(err)
		}
	}
	health, err := r.bringUp(ctx, after)
	err = interrupted(ctx, err)
	if r.options.asJSON {
		if printed := r.printJSON(r.json(done, false, health, err)); printed != nil {
			return isInstalled(printed)
		}
	} else if text := r.startedText(after, health, err); text != "" {
		if err := r.print(text); err != nil {
			return isInstalled(err)
		}
	}
	switch {
	case err != nil:
		r.Say("install: it is installed; %v", err)
		return errNotRunning
	case r.options.asJSON:
		return nil
	}
	if err := r.print(r.advice(after)); err != nil {
		return isInstalled(err)
	}
	return nil
}

// isInstalled is an error that came after all was done.
func isInstalled(err error) error { return fmt.Errorf("it is installed; %w", err) }

// do carries the plan out, and returns what was changed. What is optional and fails
// is said.
func (r *installRun) do(ctx context.Context) ([]installer.Change, error) {
	done := []installer.Change{}
	err := r.installer.Do(ctx, r.plan, func(c installer.Change, err error) {
		switch {
		case err != nil:
			r.Say("install: not done: %s: %v", c, err)
		default:
			done = append(done, c)
			if r.options.verbose && !r.options.asJSON {
				fmt.Fprintln(r.Stdout, shownLine(c))
			}
		}
	})
	return done, err
}

// installed says what is installed now, and how it starts.
func (r *installRun) installed(after installer.Installation) string {
	where := r.homely(filepath.Dir(programOf(after, r.Self)))
	text := "Installed Lamplighter " + r.Version + " in " + where + ".\n"
	switch before := r.before.Receipt; {
	case len(r.plan.Changes) == 0:
		text = "Lamplighter " + r.Version + " is installed already, in " + where + ".\n"
	case before != nil && before.Version != "" && before.Version != r.Version:
		text = "Lamplighter in " + where + " is " + r.Version + " now; it was " + monitor.Clean(before.Version) + ".\n"
	case after.Kind == installer.Package:
		text = "Lamplighter " + r.Version + " is set up for you; its programs stay in " + where + ".\n"
	}
	login := r.installer.Login()
	switch {
	case login.On:
		text += "It starts at login (" + login.How + ").\n"
	case r.options.noLogin:
		text += "It does not start at login.\n"
	}
	if login.Why != "" {
		text += monitor.Clean(login.Why) + "\n"
	}
	return text
}

// restartTime is longer than all that a restart waits for.
const restartTime = replaceTime + 5*daemon.ManagerTime + 2*daemon.UnitTime + startTime

// bringUp replaces or starts the background process where that is due; nil when
// nothing was.
func (r *installRun) bringUp(ctx context.Context, after installer.Installation) (*api.Health, error) {
	switch r.step() {
	case stepNone:
		if r.options.noStart {
			return nil, nil
		}
		return nil, r.silent
	case stepRestart:
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Who is told to end is followed, whatever becomes of us: otherwise the user
		// would be left without any.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), restartTime)
		defer cancel()
		r.progress("Waiting for the running Lamplighter to end…")
		err := r.end(ctx, r.running, true)
		r.progress("")
		if err != nil {
			return nil, err
		}
	}
	r.progress("Starting…")
	health, err := r.startInstalled(ctx, startable(programOf(after, r.Self), runtime.GOOS))
	r.progress("")
	if err != nil {
		return nil, err
	}
	return &health, nil
}

// startable is the program that runs in the background: on Windows the one without a
// console, where it is there.
func startable(main, system string) string {
	if system != "windows" {
		return main
	}
	tray := filepath.Join(filepath.Dir(main), "lamplighter-tray.exe")
	if _, err := os.Stat(tray); err != nil {
		return main
	}
	return tray
}

// startedText says what runs now.
func (r *installRun) startedText(after installer.Installation, health *api.Health, err error) string {
	switch {
	case err != nil:
		return ""
	case health != nil:
		if other := otherVersion(*health, r.Version); other != "" {
			return other + "\n"
		}
		return fmt.Sprintf("It runs now%s.\n", daemon.PIDInWords(health.PID))
	case r.running != nil && r.stale():
		return r.goesOn() + "\n"
	case r.running != nil:
		return fmt.Sprintf("It runs%s.\n", daemon.PIDInWords(r.running.pid))
	case r.options.noStart, !r.installer.Login().On:
		return "To start it: " + r.called(programOf(after, r.Self)) + " run\n"
	}
	return "There is no desktop here to start it on now. It starts when you log in to one.\n"
}

// called is how the program is called from a shell: by its name where that is found.
func (r *installRun) called(path string) string {
	if path == "" || onPath(runtime.GOOS, r.Getenv("PATH"), filepath.Dir(path)) {
		return "lamplighter"
	}
	if runtime.GOOS == "windows" {
		return monitor.Quoted([]string{path})
	}
	return monitor.Clean(shellPath(r.Base.Home, path))
}

// advice is what the user should know, or may do next.
func (r *installRun) advice(after installer.Installation) string {
	text := notesText(r.plan.Notes)
	if r.isRoot() {
		text = rootNote + "\n" + text
	}
	if after.Kind != installer.Package && len(r.plan.Changes) > 0 {
		text += pathAdvice(runtime.GOOS, r.Getenv("PATH"), filepath.Dir(programOf(after, r.Self)), r.Base.Home, r.Getenv("SHELL"))
	}
	if len(r.plan.Changes) > 0 && r.before.Receipt == nil {
		text += "To have your clients share servers: lamplighter setup\n"
	}
	return text
}
