package installer

import (
	"context"
	"errors"
	"log/slog"
)

// Errors of this package, for errors.Is. The errors that wrap them are sentences
// for people: what was attempted, what stands against it, what to do.
var (
	// ErrNoHome says that there is no home directory to install into.
	ErrNoHome = errors.New("there is no home directory")
	// ErrForeign says that something that we have not written lies where a file
	// of ours would.
	ErrForeign = errors.New("it was not written by lamplighter")
	// ErrNoPrograms says that the programs to install are not all there.
	ErrNoPrograms = errors.New("a program is missing")
	// ErrBusy says that another process installs or uninstalls right now.
	ErrBusy = errors.New("another lamplighter is installing or uninstalling")
)

// Options say whose installation it is. Directories are absolute; an empty one
// has no place. Nothing outside of them is written, except the directories of the
// user that the platform reads autostart entries from.
type Options struct {
	OS         string // runtime.GOOS, which tests may change for all that is pure
	Home       string
	ConfigHome string // XDG_CONFIG_HOME or what stands for it
	DataHome   string // XDG_DATA_HOME or what stands for it
	StateDir   string // of Lamplighter: the receipt lies there
	ConfigDir  string // of Lamplighter: where its settings are
	Settings   string // a file of settings that the user has named, which always stays; "" for none
	RuntimeDir string // of Lamplighter: where its sockets are, "" for none
	LocalApps  string // Windows: %LOCALAPPDATA%\Programs
	Self       string // the executable that runs
	Version    string // of it
	Icon       []byte // an SVG, for the menu where no archive brings one; nil for none
	Getenv     func(string) string
	// Command runs a program of the system and returns what it printed, both
	// outputs. nil: the real one, without a window of its own.
	Command func(ctx context.Context, name string, args ...string) ([]byte, error)
	Log     *slog.Logger // nil for none
}

// Installer plans and carries out installations. Make it with New. Its methods
// may be called on any goroutine; Do takes a lock against other processes.
type Installer struct {
	o      Options
	values registry
	// at is called before each step that changes something; an error makes that
	// step fail. Tests end the installer there, too.
	at     func(point string) error
	mounts func() string // what is mounted where
}

// New makes an installer. It touches nothing.
func New(o Options) *Installer {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Command == nil {
		o.Command = command
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	return &Installer{o: o, values: systemRegistry{}, at: func(string) error { return nil }, mounts: mountTable}
}

// InstallOptions are what the user may say about an installation.
type InstallOptions struct {
	InPlace  bool // leave the programs where they are
	Headless bool // start with the user's manager and not with a desktop: for machines without one; kept once said
	NoLogin  bool // leave start at login as it is
	Replace  bool // put aside what we have not written, as FILE.lamplighter-backup
}

// UninstallOptions are what the user may say about taking it away.
type UninstallOptions struct {
	Purge        bool // settings too
	KeepPrograms bool // a package or a setup program takes them away itself
}

// Programs are the executables of one installation, as absolute paths.
type Programs struct {
	Main    string // lamplighter
	Connect string // lamplighter-connect
	Tray    string // Windows: the one without a console; "" elsewhere
}

// Kind is how the program that runs came to where it is.
type Kind string

// The kinds of installations.
const (
	None    Kind = "none"    // it runs from where it was built or unpacked
	ByHand  Kind = "hand"    // by lamplighter install, which keeps a receipt
	Package Kind = "package" // by a package of the system, a setup program or as an application bundle
)

// Installation is what is known of the one that Options.Self belongs to.
type Installation struct {
	Kind Kind
	// How is "deb", "rpm", "setup", "app" for Package, from the file "package"
	// that those put beside their files; else empty.
	How      string
	Programs Programs
	Receipt  *Receipt // of an installation by hand, also when Self is not of it; nil for none
	// Unfinished: an installation was interrupted; installing again completes it.
	Unfinished bool
}
