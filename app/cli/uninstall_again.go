package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// lookAgain looks once more at the workspaces that go: while the user was asked, and
// while the background process ended, jobs may have gone on. One that nobody was
// shown does not go.
func (r *uninstallRun) lookAgain(ctx context.Context) error {
	if !r.options.purge {
		return nil
	}
	now, err := r.lookAtSpaces(ctx)
	if err != nil {
		return err
	}
	if why := now.refusal(r.program, r.options.force); why != nil {
		return why
	}
	for _, w := range now.going {
		known := func(shown workspace.Workspace) bool { return shown.ID == w.ID }
		if !slices.ContainsFunc(r.spaces.going, known) {
			return fmt.Errorf("%w: %s was made meanwhile; do this again", errWorkspaces, monitor.Clean(w.Name))
		}
	}
	r.spaces = now
	return nil
}

// endAll ends the background process, and the one after it: clients, a login or the
// user may start another one at any time.
func (r *uninstallRun) endAll(ctx context.Context) error {
	const most = 3
	for range most {
		if err := r.StopSocket(ctx); err != nil && ctx.Err() == nil {
			r.Say("uninstall: systemd goes on listening for clients: %v", err)
		}
		found, err := r.findRunning(ctx)
		if err != nil || found == nil {
			return err
		}
		r.progress("Waiting for Lamplighter to end…")
		err = r.end(ctx, found, false)
		r.progress("")
		if err != nil {
			return err
		}
	}
	return errors.New("somebody starts Lamplighter again each time it has ended; close your clients, and do this again")
}

// stopped adds to an error how far it has come.
func (r *uninstallRun) stopped(err error) error {
	if r.running == nil {
		return fmt.Errorf("%w; Lamplighter is still there", err)
	}
	return fmt.Errorf("%w; Lamplighter is still there, and has ended: lamplighter run starts it", err)
}
