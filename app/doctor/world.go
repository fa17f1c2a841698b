package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/setup"
	"lamplighter/monitor/process"
	"lamplighter/monitor/view"
)

// world is what more than one check needs to know first.
type world struct {
	background background
	table      []process.Info // of our user
	settings   config.Settings
	wrong      error // with the settings: a *config.FileError
	serena     config.Layer
	serenas    error // what is wrong with what Serena's file says to us
	clients    listed
	environ    []string
	ofDesktop  bool // environ is that of the background process
	away       throwaway
	noAway     error  // why there is none
	finder     Finder // sees environ, with what candidates make thrown away
	installerFound
	copies  copies
	command string // what to type for this program
}

// background is what is known of the background process.
type background struct {
	err       error // why it cannot be reached; nil: it runs and answers
	health    api.Health
	address   string         // of the page, without a token; "" when it is not served
	instances []*view.Server // when it answers
	exe       string         // what it runs
	silent    []process.Info // lamplighters in the background that are not the one that answers
}

func (b background) runs() bool { return b.err == nil }

// look gathers it; the throwaway is to be removed. Whatever hangs counts as not known.
func look(ctx context.Context, o Options) world {
	const limit = 5 * time.Second
	w := world{settings: config.Default(), environ: o.Environ}
	type read struct {
		settings       config.Settings
		serena         config.Layer
		wrong, serenas error
	}
	settings := make(chan read, 1)
	go func() {
		r, err := within(ctx, limit, func(context.Context) (r read) {
			r.settings, r.wrong = config.Load(o.Places.Config, o.Places.ConfigNamed)
			r.serena, r.serenas = config.NewSerenaWatcher(o.Places.SerenaHome, nil).Load()
			return r
		})
		if err != nil {
			r.settings = config.Default()
			r.wrong = &config.FileError{Path: o.Places.Config, Problems: []config.Problem{{Text: "cannot be read: " + err.Error()}}}
		}
		settings <- r
	}()
	table := make(chan []process.Info, 1)
	go func() {
		list, _ := within(ctx, limit, func(context.Context) []process.Info {
			list, _ := process.NewTable().Pass() // with an error comes what could be read
			return list
		})
		table <- list
	}()
	installed := make(chan installerFound, 1)
	go func() {
		found, err := within(ctx, limit, func(ctx context.Context) installerFound { return lookAtInstaller(ctx, o.Installer) })
		if err != nil {
			found.installedErr = err
		}
		installed <- found
	}()
	clients := make(chan listed, 1)
	go func() { clients <- listClients(ctx, limit, o.Clients) }()
	// Each of its questions has a limit of its own, so this one is never met.
	var err error
	w.background, err = within(ctx, 3*limit, func(ctx context.Context) background { return reach(ctx, o.Places.ControlSocket) })
	if err != nil {
		w.background.err = fmt.Errorf("%w: asking at %s: %w", api.ErrUnreachable, o.Places.ControlSocket, err)
	}
	r := <-settings
	w.settings, w.wrong, w.serena, w.serenas = r.settings, r.wrong, r.serena, r.serenas
	w.table = <-table
	w.clients = <-clients
	setup.NoteRunning(w.clients.all, w.background.instances)
	w.installerFound = <-installed
	w.background.silent = silent(w.table, w.background.health.PID, os.Getpid(), o.Self)
	if pid := w.background.health.PID; pid != 0 {
		if info, err := process.Read(pid); err == nil {
			w.background.exe = info.Exe
		}
		if environ, err := environOf(pid); err == nil {
			w.environ, w.ofDesktop = environ, true
		}
	}
	if l, err := within(ctx, limit, func(context.Context) copies { return gatherCopies(o, &w) }); err == nil {
		w.copies = l
	}
	w.copies.readVersions(ctx)
	w.command = w.copies.command(o.Self)
	// One finder for all: each asks the login shell for itself.
	environ := w.environ
	if w.away, w.noAway = newThrowaway(); w.noAway == nil {
		environ = w.away.environ(environ, o.Home)
	}
	w.finder = o.Finder(environ)
	return w
}

// reach asks the background process about itself.
func reach(ctx context.Context, socket string) (b background) {
	client, health, err := api.Dial(ctx, socket)
	if err != nil {
		b.err = err
		return b
	}
	defer client.Close()
	b.health = health
	if status, err := client.Status(ctx); err == nil && status.Address != nil {
		b.address, _, _ = strings.Cut(*status.Address, "#")
	}
	if list, err := client.Instances(ctx); err == nil {
		b.instances = list.Instances
	}
	return b
}

// absent tells that nobody serves the control socket, which is nothing unusual.
func (b background) absent() bool {
	return errors.Is(b.err, fs.ErrNotExist) || errors.Is(b.err, syscall.ECONNREFUSED)
}

// silent are the processes that run lamplighter in the background, without the
// one that answers.
func silent(table []process.Info, answers, self int, exe string) []process.Info {
	var list []process.Info
	for _, in := range table {
		if in.PID != answers && in.PID != self && api.IsProgram(in.Exe, exe) && inBackground(in.Args) {
			list = append(list, in)
		}
	}
	return list
}

// inBackground reports whether a command line is that of the background process:
// the verb run, or none.
func inBackground(args []string) bool {
	value := false // the next argument is that of a flag
	for _, a := range args[min(1, len(args)):] {
		switch {
		case value:
			value = false
		case a == "--help", a == "-h", a == "--version":
			return false
		case a == "--config", a == "--web-dashboard-global-port", a == "--idle-shutdown-minutes":
			value = true
		case strings.HasPrefix(a, "-"):
		default:
			return a == "run"
		}
	}
	return true
}

// variable is the value of a variable in an environment, of the last one if
// there are several.
func variable(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if key, value, _ := strings.Cut(environ[i], "="); sameVariable(key, name) {
			return value
		}
	}
	return ""
}
