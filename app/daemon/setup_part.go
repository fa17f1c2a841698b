package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"lamplighter/app/api"
	"lamplighter/app/setup"
)

// clientSettings reads and changes the settings of clients for the page. Where
// lamplighter-connect is, is looked up each time: it may be installed while we
// run.
type clientSettings struct {
	program *Program
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
	connect, err := c.program.BesideUs(ConnectName)
	if err != nil {
		connect = "" // which Do says, and List does not need
	}
	return c.program.Setup(setup.Options{Home: c.program.Base.Home, Getenv: c.program.Getenv, State: c.state, Connect: connect, Socket: c.program.SocketForClients()})
}

// setupPart is what the page asks for settings of clients; nil where nothing
// could be remembered to undo it.
func (b *background) setupPart() api.Setup {
	if b.places.StateDir == "" || b.Base.Home == "" {
		return nil
	}
	return clientSettings{program: b.Program, state: b.places.StateDir}
}

// ConnectName is the program that stands between a client and the server that it
// shares.
const ConnectName = "lamplighter-connect"

// BesideUs is the path of another program of this installation.
func (p *Program) BesideUs(name string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if p.Self == "" {
		return "", fmt.Errorf("where lamplighter lies is not known, so %s cannot be found; name that program itself in your client's settings", name)
	}
	path := filepath.Join(filepath.Dir(p.Self), name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no %s; it belongs beside lamplighter: install both again", path)
	} else if err != nil {
		return "", fmt.Errorf("%s cannot be run: %w; see lamplighter doctor", path, err)
	}
	return path, nil
}
