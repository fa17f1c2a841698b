package cli

import (
	"context"

	"lamplighter/app/api"
	"lamplighter/app/setup"
)

// clientSettings reads and changes the settings of clients for the page. Where
// lamplighter-connect is, is looked up each time: it may be installed while we
// run.
type clientSettings struct {
	program *program
	state   string // directory for what undoing needs
}

func (c clientSettings) List(ctx context.Context, w setup.Wanted) ([]setup.Client, error) {
	return c.part().List(ctx, w)
}

func (c clientSettings) Do(ctx context.Context, w setup.Wanted) (setup.Result, error) {
	return c.part().Do(ctx, w)
}

// part is for no project: our directory is nobody's.
func (c clientSettings) part() api.Setup {
	connect, err := c.program.besideUs(connectName)
	if err != nil {
		connect = "" // which Do says, and List does not need
	}
	return c.program.setup(setup.Options{Home: c.program.base.Home, Getenv: c.program.getenv, State: c.state, Connect: connect, Socket: c.program.socketForClients()})
}

// setupPart is what the page asks for settings of clients; nil where nothing
// could be remembered to undo it.
func (b *background) setupPart() api.Setup {
	if b.places.StateDir == "" || b.base.Home == "" {
		return nil
	}
	return clientSettings{program: b.program, state: b.places.StateDir}
}
