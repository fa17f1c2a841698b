package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// openTime is how long Open waits for the lock. Keepers hold it for moments
// after the program before this one has died.
const openTime = 3 * time.Second

// The waits between tries to open, the first and the longest.
const (
	openFirst = time.Second
	openMost  = 15 * time.Second
)

// NoServers begins the warning that says why nothing can be launched.
const NoServers = "no servers can be started for clients: "

// errNoPlace is for good: a Launcher has its state directory from the start.
var errNoPlace = errors.New("there is no place for the records of servers; lamplighter doctor says why")

// Open makes the state directory ready and takes the lock by which keepers
// learn of our end, waiting a few seconds for it. The error says why nothing
// can be launched. The user is warned of it until it works: each Launch tries it
// again, and so does Serve.
func (l *Launcher) Open(ctx context.Context) error { return l.openWithin(ctx, openTime) }

func (l *Launcher) openWithin(ctx context.Context, limit time.Duration) error {
	l.opening.Lock()
	defer l.opening.Unlock()
	if refused := l.whyRefused(); refused == nil || errors.Is(refused, errClosing) {
		return refused
	}
	err := l.open(ctx, limit)
	l.warn(ctx, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.refused, errClosing) { // meanwhile, and nobody will let go of the lock
		return errors.Join(l.refused, l.alive.release())
	}
	l.refused = err
	if err == nil {
		close(l.opened)
	}
	return err
}

// untilOpen opens what could not be opened before, or waits until a start has done
// that. An error says that we end.
func (l *Launcher) untilOpen(ctx context.Context) error {
	for waits := (pauses{openFirst, openMost}); ; {
		err := l.Open(ctx)
		switch {
		case err == nil || errors.Is(err, errClosing):
			return err
		case errors.Is(err, errNoPlace):
			<-ctx.Done()
			return ctx.Err()
		}
		select {
		case <-l.opened:
		case <-time.After(waits.take()):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *Launcher) open(ctx context.Context, limit time.Duration) error {
	if l.o.StateDir == "" {
		return errNoPlace
	}
	if err := os.MkdirAll(l.serversDir(), 0o700); err != nil {
		return fmt.Errorf("the directory for the records of servers cannot be made: %w", err)
	}
	boot, err := process.BootID()
	if err != nil {
		l.o.Log.Warn("records of servers will not tell the boot that they belong to", "error", err)
	}
	l.bootID = boot
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return l.alive.take(ctx)
}

// reopen opens what could not be opened before. It does not wait for the lock, and
// leaves alone a Launcher that nobody has opened, or that is ending.
func (l *Launcher) reopen(ctx context.Context) {
	if refused := l.whyRefused(); refused != nil && !errors.Is(refused, errNotOpen) && !errors.Is(refused, errClosing) {
		_ = l.openWithin(ctx, lockEvery) // what fails is the reason from now on
	}
}

func (l *Launcher) whyRefused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// holdLock makes sure that a keeper that is started now waits for a lock that we
// hold. The user is warned when that does not work, until it does.
func (l *Launcher) holdLock(ctx context.Context) error {
	l.opening.Lock()
	defer l.opening.Unlock()
	err := l.alive.current(ctx)
	l.warn(ctx, err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	l.lost.Ring()
	return err
}

// relock takes the lock again where a start has found it lost, so that the warning
// goes also when nobody asks for a server any more.
func (l *Launcher) relock(ctx context.Context) {
	for {
		select {
		case <-l.lost:
		case <-ctx.Done():
			return
		}
		for waits := l.retries(); waits.wait(ctx.Done()); {
			l.opening.Lock()
			err := l.alive.again(ctx)
			l.warn(ctx, err)
			l.opening.Unlock()
			if err == nil {
				break
			}
		}
	}
}

// warn tells the user why nothing can be launched, or that this is over. That ctx
// has ended is no reason. The caller holds opening.
func (l *Launcher) warn(ctx context.Context, err error) {
	switch {
	case err != nil && ctx.Err() == nil:
		l.refusal = monitor.Clean(NoServers + err.Error())
		l.warnAll()
	case err == nil && l.refusal != "":
		l.refusal = ""
		l.warnAll()
	}
}

// warnLeft tells the user that something at a path is left as it is, or with no
// sentence that this is over.
func (l *Launcher) warnLeft(path, sentence string) {
	l.opening.Lock()
	defer l.opening.Unlock()
	l.left[path] = monitor.Clean(sentence)
	if sentence == "" {
		delete(l.left, path)
	}
	l.warnAll()
}

// warnAll tells the user all that there is to know now. The caller holds opening.
func (l *Launcher) warnAll() {
	var sentences []string
	if l.refusal != "" {
		sentences = append(sentences, l.refusal)
	}
	for _, path := range slices.Sorted(maps.Keys(l.left)) {
		sentences = append(sentences, l.left[path])
	}
	l.o.Warn(sentences...)
}
