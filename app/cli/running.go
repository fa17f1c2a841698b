package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// running is the background process, as it was found before anything was done to
// it. Its program may be replaced meanwhile, and would not be recognised then.
type running struct {
	pid     int
	version string
	exe     string           // of its program, "" when that is not known
	id      monitor.Identity // zero when it was not recognised as a lamplighter
}

// replaceTime is what the running one gets to end for another one.
const (
	replaceTime = 10 * time.Second
	endPoll     = 50 * time.Millisecond
)

// findRunning finds the background process; nil when none runs. The error is a
// SilentError when one runs that does not answer, also after a while: it may have
// just started, or be ending; or when that cannot be told.
func (p *program) findRunning(ctx context.Context) (*running, error) {
	places := p.Places()
	deadline := time.Now().Add(p.Limits.Rival)
	for {
		client, health, err := api.Dial(ctx, places.ControlSocket)
		if err == nil {
			client.Close()
			return p.recognised(health), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lock, lockErr := daemon.HeldLock(places)
		late := time.Now().After(deadline)
		switch {
		case lockErr != nil && late:
			return nil, daemon.SilentError{Err: lockErr}
		case lockErr == nil && lock == "":
			return nil, nil
		case late:
			return nil, daemon.SilentError{Err: p.holdsInSilence(lock)}
		}
		if err := p.Pause(ctx, endPoll); err != nil {
			return nil, err
		}
	}
}

func (p *program) holdsInSilence(lock string) error {
	if pid := p.LockHolder(lock); pid != 0 {
		if runtime.GOOS == "linux" && p.Base.RuntimeDir == "" {
			return fmt.Errorf("lamplighter runs%s and does not answer where it is looked for; XDG_RUNTIME_DIR is not set here: set it as in your desktop, or else end that process, and do this again", daemon.PIDInWords(pid))
		}
		return fmt.Errorf("lamplighter runs%s and does not answer; end that process, and do this again", daemon.PIDInWords(pid))
	}
	return fmt.Errorf("a program that does not answer holds the lock %s; end it, and do this again", monitor.Clean(lock))
}

// recognised is who answers. The pid is its own word, so that only a process that is
// a lamplighter counts.
func (p *program) recognised(health api.Health) *running {
	r := &running{pid: health.PID, version: health.Version}
	if health.PID <= 0 || health.PID == os.Getpid() || p.Process == nil {
		return r
	}
	if info, err := p.Process(health.PID); err == nil && api.IsProgram(info.Exe, p.Self) {
		r.exe, r.id = info.Exe, info.Identity
	}
	return r
}

// end has the background process end, and returns when it has: the one that was
// found, or the one that has taken its place since. restart: another one is started
// then, and takes over what is shared.
func (p *program) end(ctx context.Context, r *running, restart bool) error {
	limit := p.Limits.Park + daemon.ManagerTime + p.Limits.Exit + 3*time.Second
	if restart {
		limit = replaceTime
	}
	client, health, err := api.Dial(ctx, p.Places().ControlSocket)
	if err == nil {
		if health.PID != r.pid { // which has taken its place since
			r = p.recognised(health)
		}
		_, err = client.Quit(ctx, restart)
		client.Close()
	}
	switch {
	case errors.Is(err, api.ErrNoQuit):
		if err := p.terminateOlder(ctx, r); err != nil {
			return err
		}
	case errors.Is(err, api.ErrUnreachable) && ctx.Err() == nil: // it may be ending already
	case err != nil:
		return fmt.Errorf("lamplighter%s does not end: %w; quit it in its menu", daemon.PIDInWords(r.pid), err)
	}
	return p.ended(ctx, r, limit)
}

// terminateOlder ends a background process of before the order to end.
func (p *program) terminateOlder(ctx context.Context, r *running) error {
	if r.id == (monitor.Identity{}) {
		return fmt.Errorf("lamplighter %s%s is %w; quit it in its menu", monitor.Clean(r.version), daemon.PIDInWords(r.pid), errTooOld)
	}
	if err := p.terminate(ctx, r.id); err != nil && !errors.Is(err, process.ErrGone) {
		return fmt.Errorf("lamplighter%s does not end: %w; quit it in its menu", daemon.PIDInWords(r.pid), err)
	}
	return nil
}

// errTooOld: no order and no signal reaches it.
var errTooOld = errors.New("too old to be ended from here")

// ended waits until that one has ended. Another one may hold the lock by then: where
// clients are connected systemd starts it at once.
func (p *program) ended(ctx context.Context, r *running, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		if p.hasEnded(ctx, r) {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("lamplighter%s has not ended within %s; end that process, and do this again", daemon.PIDInWords(r.pid), monitor.Span(limit))
		}
		if err := p.Pause(ctx, endPoll); err != nil {
			return err
		}
	}
}

// hasEnded reports whether that one has ended. One that was not recognised may go on
// in silence as long as somebody holds the lock.
func (p *program) hasEnded(ctx context.Context, r *running) bool {
	client, health, err := api.Dial(ctx, p.Places().ControlSocket)
	if err == nil {
		client.Close()
		return health.PID != r.pid
	}
	if p.gone(r.id) {
		return true
	}
	lock, err := daemon.HeldLock(p.Places())
	return err == nil && lock == ""
}

// gone reports whether a process has ended. Of the zero value that is not known.
func (p *program) gone(id monitor.Identity) bool {
	if id == (monitor.Identity{}) {
		return false
	}
	info, err := p.Process(id.PID)
	return errors.Is(err, process.ErrGone) || err == nil && info.Identity != id
}
