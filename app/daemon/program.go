// Package daemon is the background process: Program.Run becomes the only one of
// its user, composes the parts and runs them until it is told to end.
//
// Program is also what the verbs (app/cli) stand on, so that they look for files,
// the lock, the units of systemd and the page where the background process has
// them. Nothing is decided here about instances, and nothing is known of verbs.
package daemon

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// Program is one run of the program with what the background process, and what
// it shares with the verbs, touches outside.
type Program struct {
	Version     string
	Stdout      io.Writer
	Stderr      io.Writer
	OnScreen    bool // Stdout is a terminal
	ErrOnScreen bool // Stderr is one
	Getenv      func(string) string
	Base        config.Base

	Open   func(url string) error // in a browser
	Pause  func(ctx context.Context, d time.Duration) error
	Limits Limits
	Exit   func(status int) // at once, when a part does not stop in time

	Setup func(setup.Options) api.Setup // on the settings of MCP clients

	Self    string                              // path of our executable, "" when unknown
	Process func(pid int) (process.Info, error) // what is known about any process
	// Command runs a program of the system and returns what it printed; nil: the
	// real one.
	Command func(ctx context.Context, name string, args ...string) ([]byte, error)

	ConfigFile string // of the flag --config
	Flags      config.Layer
	AtLogin    bool // the flag --at-login: started by nobody who looks
}

// Places are where our files are, by flag, environment and platform.
func (p *Program) Places() config.Places {
	return config.Find(p.ConfigFile, p.Getenv, p.Base)
}

// ClientSettings are those of the user's MCP clients. Nothing is read yet.
func (p *Program) ClientSettings() *clients.Settings {
	return clients.NewSettings(runtime.GOOS, p.Base.Home, p.Getenv)
}

// Say writes one line to standard error. What comes from outside cannot
// disturb the terminal.
func (p *Program) Say(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "lamplighter: %s\n", monitor.Clean(fmt.Sprintf(format, args...)))
}

// Pause waits for that long, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
