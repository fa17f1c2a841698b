package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/thejerf/suture/v4"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/dashboard"
	"lamplighter/app/launch"
	"lamplighter/app/notify"
	"lamplighter/app/policies"
	"lamplighter/app/session"
	"lamplighter/app/share"
	"lamplighter/app/share/proxy"
	"lamplighter/app/socket"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
	"lamplighter/monitor/watch"
	"lamplighter/tray"
)

// background is the background process while it is put together.
type background struct {
	*Program
	places   config.Places
	settings config.Settings
	level    slog.LevelVar
	log      *slog.Logger
	logged   bool // log is a file, not standard error
	notices  notices

	ours    *config.Watcher
	serenas *config.SerenaWatcher
	layers  layers

	ourSpaces *workspace.Manager                    // nil where nothing can be remembered
	spaces    atomic.Pointer[[]workspace.Workspace] // that there are now, for the menu

	model    *watch.Watch
	icon     *tray.Tray
	style    atomic.Value // of the icon, a string
	web      *api.Web
	recorder *dashboard.Recorder
	opener   *opener
	finder   *launch.Finder
	launcher *launch.Launcher
	passed   socket.Listener // the share socket, where whoever started us has made it; nil: we do
	engine   *policies.Engine
	notifier *notify.Notifier

	sessions   *session.Manager
	sessionWeb *api.Web // the port where sessions are asked for

	planner        *share.Planner
	broker         *share.Broker
	shareServer    *proxy.Server // of those who share servers
	sharingChanged monitor.Bell  // rings when something else is shared, or other settings hold

	supervisor *suture.Supervisor // of all parts but those that start servers
}

// Run is the background process. It returns when it is told to end, or at once
// when another one already runs.
func (p *Program) Run(ctx context.Context) error {
	if p.AtLogin && p.handedOver(ctx) {
		return nil
	}
	keepDescriptors()
	ctx = WithHangup(ctx)

	b := &background{Program: p, places: p.Places()}
	b.ours = config.NewWatcher(b.places.Config, b.places.ConfigNamed, b.reloaded)
	b.serenas = config.NewSerenaWatcher(b.places.SerenaHome, b.serenaReloaded)
	var settingsErr error
	b.settings, settingsErr = b.ours.Load()
	serenaLayer, serenaErr := b.serenas.Load()
	b.layers.flags, b.layers.ours, b.layers.serenas = p.Flags, b.settings, serenaLayer
	b.layers.lost = settingsErr != nil
	b.level.Set(b.settings.LogLevel.Level())
	stateErr := StateDirectory(b.places.StateDir)
	logFile, logErr := b.openLog(stateErr == nil)
	if logFile != nil {
		defer logFile.Close()
	}
	// Before anything is started, which must not have it, nor be told of it.
	var passedErr error
	if b.passed, passedErr = socket.Inherited(socket.Share(b.places.ShareSocket), b.log); b.passed != nil {
		defer b.passed.Close()
	}
	lock, err := b.becomeFirst(ctx, stateErr == nil)
	var silent SilentError
	switch {
	case errors.As(err, &silent):
		return err
	case errors.Is(err, errLocked), err != nil && ctx.Err() != nil:
		return nil
	case lock != nil:
		defer lock.Close()
		b.claimSocket(ctx)
	}
	if settingsErr != nil {
		b.current(aboutSettings, SettingsFaults("settings", settingsErr, "the defaults are used, and no policy ends anything, until you correct")...)
	}
	if serenaErr != nil {
		b.current(aboutSerenaSettings, SettingsFaults(serenasFile, serenaErr, "that counts as not said until you correct")...)
	}
	if stateErr != nil {
		b.warn(aboutState, "the state directory cannot be used (%v); going on without a log file and without a record of what happens", stateErr)
		b.places.StateDir = ""
	}
	if logErr != nil {
		b.warn(aboutLog, "the log cannot be written (%v); going on without a log file", logErr)
	}
	if passedErr != nil {
		b.tell("%v; going on with one of our own", passedErr)
	}
	switch {
	case lock != nil && err != nil:
		b.warn(aboutLock, "%v; going on with %s in its place", err, lock.Path())
	case err != nil:
		b.warn(aboutLock, "%v; going on, but a second lamplighter would not notice this one", err)
	}
	over, overErr := config.IdleShutdown(b.Getenv)
	if overErr != nil {
		b.warn(aboutIdleShutdown, "%v", overErr)
	}
	b.layers.change(func(l *layers) { l.over = over }, func(held) {}) // before there are parts
	b.log.Info("started", "version", p.Version, "pid", os.Getpid())
	defer b.log.Info("stopped")
	return b.serve(ctx, lock != nil)
}

// WithHangup ends a context at SIGHUP too, which is the end of the session,
// unless it is ignored as nohup does it.
func WithHangup(ctx context.Context) context.Context {
	if signal.Ignored(syscall.SIGHUP) {
		return ctx
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	return ctx
}

// openLog opens the log in the state directory, or sends it to standard error
// where that cannot be used.
func (b *background) openLog(stateUsable bool) (io.Closer, error) {
	var err error
	if stateUsable {
		var log *slog.Logger
		var file io.Closer
		log, file, err = openLog(b.places.StateDir, &b.level, func(err error) {
			b.Say("the log cannot be written (%v); going on, but until you mend that nothing is logged", err)
		})
		if err == nil {
			b.log, b.logged = log, true
			return file, nil
		}
	}
	b.log = slog.New(slog.NewTextHandler(b.Stderr, &slog.HandlerOptions{Level: max(slog.LevelWarn, b.level.Level())}))
	return nil, err
}

// tell says something once to whoever looks: on standard error and in the log.
func (b *background) tell(format string, args ...any) {
	b.Say(format, args...)
	if b.logged {
		b.log.Warn(monitor.Clean(fmt.Sprintf(format, args...)))
	}
}

// warn tells, and shows it in every view too.
func (b *background) warn(about subject, format string, args ...any) {
	b.tell(format, args...)
	b.notices.set(about, monitor.Clean(fmt.Sprintf(format, args...)))
}

// current shows in every view what holds now, tells it when it is new, and takes
// it back when nothing does.
func (b *background) current(about subject, sentences ...string) {
	if !b.notices.set(about, sentences...) {
		return
	}
	for _, sentence := range sentences {
		b.tell("%s", sentence)
	}
}

// rivalPoll is how often another background process is looked for that starts or ends.
const rivalPoll = 50 * time.Millisecond

// SilentError says that somebody holds the lock, and does not answer or cannot
// do what we are there for. It does not unwrap: for a start this is a failure,
// not the absence of a server.
type SilentError struct{ Err error }

func (e SilentError) Error() string { return e.Err.Error() }

// becomeFirst takes the single-instance lock. When another process holds it,
// or serves our socket without it, that one is asked to show itself, and the
// error is errLocked, or a SilentError when it does not answer, or when we have
// been passed the share socket, which only it could serve. Any other error is that
// of TakeLock.
func (b *background) becomeFirst(ctx context.Context, stateUsable bool) (*flock.Flock, error) {
	deadline := time.Now().Add(b.Limits.Rival)
	for {
		lock, err := TakeLock(b.places, stateUsable)
		client, health, dialErr := api.Dial(ctx, b.places.ControlSocket)
		if dialErr == nil {
			defer client.Close()
			if lock != nil {
				defer lock.Close()
			}
			if b.AtLogin { // nobody asks to see anything
				if b.passed != nil {
					b.leaveSocket(ctx)
				}
				return nil, errLocked
			}
			if b.passed != nil { // a client has started us, who wants to see nothing
				return nil, SilentError{fmt.Errorf("it already runs%s, without the share socket that this one was started for; end that one, and this one starts with the next client", PIDInWords(health.PID))}
			}
			b.showFirst(ctx, client, health)
			return nil, errLocked
		}
		if !errors.Is(err, errLocked) {
			return lock, err
		}
		if time.Now().After(deadline) {
			return nil, SilentError{b.silence(err, dialErr)}
		}
		if err := b.Pause(ctx, rivalPoll); err != nil {
			return nil, err
		}
	}
}

// leaveSocket leaves the share socket that we have been passed to the process that
// already runs: it makes its own as soon as nobody else has it.
func (b *background) leaveSocket(ctx context.Context) {
	if err := b.StopSocket(ctx); err != nil {
		b.log.Warn("clients cannot share servers until the socket unit is stopped", "error", err)
	}
}

// claimSocket has the system listen for clients no more where it has not passed us the
// share socket, which we make ourselves then.
func (b *background) claimSocket(ctx context.Context) {
	if b.passed != nil {
		return
	}
	if err := b.takeSocket(ctx); err != nil {
		b.log.Warn("clients cannot share servers until the socket unit is stopped", "error", err)
	}
}

// silence says who holds the lock, and that dialErr came instead of an answer.
func (b *background) silence(lockErr, dialErr error) error {
	var locked lockedError
	if errors.As(lockErr, &locked) {
		if pid := b.LockHolder(locked.path); pid != 0 {
			return fmt.Errorf("it already runs%s, but does not answer (%w); if that lasts, end that process and start again",
				PIDInWords(pid), dialErr)
		}
	}
	return fmt.Errorf("%w, and no lamplighter answers (%w); end that program and start again", lockErr, dialErr)
}

// PIDInWords is a process in brackets behind a word, "" when it is not known.
func PIDInWords(pid int) string {
	if pid == 0 {
		return ""
	}
	return " (pid " + strconv.Itoa(pid) + ")"
}

// showFirst asks the process that already runs to show itself.
func (b *background) showFirst(ctx context.Context, client *api.Client, health api.Health) {
	running := "it already runs" + PIDInWords(health.PID)
	if b.ConfigFile != "" || b.Flags != (config.Layer{}) {
		b.Say("%s; the flags of this start change nothing there: end it first, or put them into its settings", running)
	}
	shown, err := client.Show(ctx)
	switch {
	case err != nil:
		b.Say("%s; it did not show itself: %v", running, err)
	case shown.URL == nil && shown.Reason != nil:
		b.Say("%s; nothing to show: %s", running, *shown.Reason)
	case shown.URL != nil && shown.Reason != nil:
		how := "open " + *shown.URL + " yourself"
		if address, err := b.PageOf(ctx, client); err == nil && address != *shown.URL && WithoutToken(address) == *shown.URL {
			how = b.ByHand(address)
		}
		b.Say("%s; %s: %s", running, *shown.Reason, how)
	case shown.URL != nil:
		b.Say("%s; opened %s", running, *shown.URL)
	default:
		b.Say("%s", running)
	}
}
