package config

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
)

// Places are the paths of our files. An empty one has no place: there is no
// home directory and nothing in the environment says where else.
type Places struct {
	Config        string // the settings file
	ConfigNamed   bool   // the user named it, so it has to exist
	StateDir      string // log and lock
	ControlSocket string // a socket's path, on Windows the name of a pipe
	ShareSocket   string // likewise; where lamplighter-connect connects to
	LockFallback  string // the lock's path where StateDir cannot be used
	SerenaHome    string // Serena's own directory, which need not exist
}

// Base is what the platform says about itself. SystemBase fills it; a field is
// empty when the platform cannot tell.
type Base struct {
	Home       string
	ConfigHome string
	StateHome  string
	RuntimeDir string // private to the user and gone after logout
	PipeName   string // Windows: the control pipe of this user
	SharePipe  string // Windows: the one for clients that share servers
	TempDir    string
}

// SystemBase asks the platform. Without a home directory, the guesses below
// "/" that the XDG library makes are dropped.
func SystemBase() Base {
	base := Base{ConfigHome: xdg.ConfigHome, StateHome: xdg.StateHome, PipeName: pipeName("control"), SharePipe: pipeName("share"), TempDir: os.TempDir()}
	home, err := os.UserHomeDir()
	if err == nil && filepath.IsAbs(home) {
		base.Home = home
	} else {
		base.ConfigHome, base.StateHome = absolute(os.Getenv("XDG_CONFIG_HOME")), absolute(os.Getenv("XDG_STATE_HOME"))
	}
	// The library guesses /run/user/UID where the variable is missing; that
	// directory need not exist, so only the variable itself counts.
	base.RuntimeDir = absolute(os.Getenv("XDG_RUNTIME_DIR"))
	return base
}

// socket is the place of a socket: the named one, the pipe of this user, or a file
// in the directory of the user's session, or else of our state.
func (p *Places) socket(named, pipe, runtimeDir, file string) string {
	switch {
	case named != "":
		return named
	case pipe != "":
		return pipe
	case runtimeDir != "":
		return filepath.Join(runtimeDir, "lamplighter", file)
	case p.StateDir != "":
		return filepath.Join(p.StateDir, "run", file)
	}
	return ""
}

// Find decides where our files are. flag is the value of --config; getenv
// looks up our own variables. A relative directory for our state is one in the
// working directory.
func Find(flag string, getenv func(string) string, base Base) Places {
	var p Places
	switch named := getenv("LAMPLIGHTER_CONFIG"); {
	case flag != "":
		p.Config, p.ConfigNamed = flag, true
	case named != "":
		p.Config, p.ConfigNamed = named, true
	case base.ConfigHome != "":
		p.Config = filepath.Join(base.ConfigHome, "lamplighter", "config.yaml")
	}
	switch named := getenv("LAMPLIGHTER_STATE_DIR"); {
	case named != "":
		p.StateDir = fromHere(named)
	case base.StateHome != "":
		p.StateDir = filepath.Join(base.StateHome, "lamplighter")
	}
	p.ControlSocket = p.socket(getenv("LAMPLIGHTER_CONTROL_SOCKET"), base.PipeName, base.RuntimeDir, "control.sock")
	// Where lamplighter-connect looks, too, which is on its own when a client
	// starts it: so the control socket's place has no say in it.
	p.ShareSocket = p.socket(getenv("LAMPLIGHTER_SOCKET"), base.SharePipe, base.RuntimeDir, "share.sock")
	// As Serena reads it; one that depends on a working directory is nobody's
	// place but its own.
	switch named := strings.TrimSpace(getenv("SERENA_HOME")); {
	case filepath.IsAbs(named):
		p.SerenaHome = named
	case named == "" && base.Home != "":
		p.SerenaHome = filepath.Join(base.Home, ".serena")
	}
	switch {
	case base.PipeName != "" && base.TempDir != "":
		p.LockFallback = filepath.Join(base.TempDir, "lamplighter.lock")
	case base.PipeName == "" && filepath.IsAbs(p.ControlSocket):
		p.LockFallback = p.ControlSocket + ".lock"
	}
	return p
}

// fromHere is where a path leads from the working directory: what we start has
// another one.
func fromHere(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// absolute is a path that is absolute, and "" in place of another.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}
