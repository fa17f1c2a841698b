package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// Serve sees to what runs, until ctx ends. It begins with what earlier runs of
// this program have left: shared servers are adopted, everything else that is
// provably ours is ended. At the end it ends the servers of sessions, all at the
// same time, and lets go of the lock; the keepers of shared ones wait for the
// next run.
func (l *Launcher) Serve(ctx context.Context) error {
	if err := l.untilOpen(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	parts.Go(func() { l.watchExits(watching) })
	parts.Go(func() { l.inherit(ctx) })
	parts.Go(func() { l.relock(ctx) })
	<-ctx.Done()
	l.close()
	return ctx.Err()
}

// watchExits tells servers and adopted keepers of their ends.
func (l *Launcher) watchExits(ctx context.Context) {
	var served sync.WaitGroup
	defer served.Wait()
	served.Go(func() {
		for ctx.Err() == nil {
			if err := l.exits.Serve(ctx); ctx.Err() == nil {
				l.o.Log.Warn("the watch for ends of servers has failed and starts again", "error", err)
			}
		}
	})
	for {
		select {
		case id := <-l.exits.Exits():
			for _, s := range l.Servers() {
				if s.ids.server == id {
					s.exit()
				}
				if s.adopted && s.ids.keeper == id {
					s.keeper.end("")
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

// inherit deals with what earlier runs have left, all of it at the same time.
func (l *Launcher) inherit(ctx context.Context) {
	var entries []os.DirEntry
	var each, denied sync.WaitGroup
	defer denied.Wait()
	defer func() {
		each.Wait()
		if ctx.Err() == nil { // else some of it may be left to the next run
			l.dealing.Do(func() { close(l.dealt) })
		}
	}()
	deal := func(failed, id string, do func() error) {
		if !l.untilDone(ctx, failed, id, do) {
			dir := l.dirOf(id)
			l.warnLeft(dir, dir+", which an earlier run of lamplighter has left, may not be read or removed, and stays as it is; have its owner, who may be root, remove it, or make it yours and start lamplighter again")
			denied.Go(func() { l.untilGone(ctx, dir) })
		}
	}
	deal("what earlier runs have left cannot be listed", "", func() (err error) {
		entries, err = os.ReadDir(l.serversDir())
		return err
	})
	for _, e := range entries {
		id := e.Name()
		if !e.IsDir() || !isID(id) || l.isOurs(id) {
			continue
		}
		each.Go(func() {
			deal("what an earlier run has left is not dealt with", id, func() error { return l.inheritOne(ctx, id) })
		})
	}
}

// untilDone does something until that works, or until ctx ends, and is false when we
// are denied it, as of what is another user's, such as root's after one sudo: no other
// try would change that, so that it counts as dealt with.
func (l *Launcher) untilDone(ctx context.Context, failed, id string, do func() error) (allowed bool) {
	for waits := l.retries(); ; {
		err := do()
		switch {
		case err == nil || ctx.Err() != nil:
			return true
		case errors.Is(err, fs.ErrPermission):
			l.o.Log.Warn(failed+"; it stays as it is", "id", id, "error", err)
			return false
		}
		l.o.Log.Warn(failed+"; it is tried again", "id", id, "error", err)
		if !waits.wait(ctx.Done()) {
			return true
		}
	}
}

// untilGone takes the warning of a directory back when it has gone. What is in one
// that may be read by then is for the next run.
func (l *Launcher) untilGone(ctx context.Context, dir string) {
	for waits := l.retries(); waits.wait(ctx.Done()); {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			l.warnLeft(dir, "")
			return
		}
	}
}

// isOurs reports whether this run has made the directory.
func (l *Launcher) isOurs(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.starting[id] != nil || l.servers[id] != nil
}

// fate is what becomes of a server that an earlier run has started.
type fate int

const (
	forgetIt fate = iota // nothing of it can live
	adoptIt
	endIt
)

// found is what is seen of it.
type found struct {
	readable bool // its record is
	sameBoot bool // as far as is known
	keeper   bool // lives, and is provably of the launch
	server   bool // the same
}

// fateOf decides. What has no record that makes sense is ended by its mark, which
// is the name of its directory.
func fateOf(r *record, f found) fate {
	switch {
	case f.readable && !f.sameBoot:
		return forgetIt
	case f.readable && r.Lifetime == Shared && f.keeper && f.server:
		return adoptIt
	}
	return endIt
}

func (l *Launcher) inheritOne(ctx context.Context, id string) error {
	r, err := l.readRecord(l.dirOf(id), id)
	switch {
	case isUnreadable(err):
		return err // the server may be in use
	case err != nil:
		l.o.Log.Warn("a server has no record that makes sense; what carries its mark is ended", "id", id, "error", err)
	}
	f := found{readable: err == nil, sameBoot: r.BootID == "" || l.bootID == "" || r.BootID == l.bootID}
	var ids identities
	if f.sameBoot {
		if ids, err = l.proven(id, r.identities()); err != nil {
			return err
		}
	}
	f.keeper, f.server = lives(ids.keeper), lives(ids.server)
	switch fateOf(&r, f) {
	case adoptIt:
		return l.adopt(r)
	case endIt:
		browses := !f.readable || command.SparesBrowsers(r.Kind) // what has no kind may be of any
		if err := l.endInherited(ctx, id, browses, ids); err != nil {
			return err
		}
	}
	return l.forget(id)
}

// endInherited ends what an earlier run has left, by its keeper where that
// lives, and by its mark. The processes are provably of the launch.
func (l *Launcher) endInherited(ctx context.Context, id string, browses bool, ids identities) error {
	if h, err := process.Hold(ids.keeper); err == nil {
		defer h.Close()
		l.o.Log.Info("ending a server that an earlier run has left", "id", id, "keeper", ids.keeper.String())
		terminate(ids.keeper)
		ctx, cancel := context.WithTimeout(ctx, l.o.Limits.Keeper)
		defer cancel()
		_ = h.Wait(ctx) // what is left then is swept
	}
	return newBroom(id, browses, ids.keeper, ids.server).sweep(l.hurry)
}

// lives reports whether a process of a record lives.
func lives(id monitor.Identity) bool { return process.Lives(process.Local(), id) }

// adopt takes a shared server over from an earlier run.
func (l *Launcher) adopt(r record) error {
	k := adoptedKeeper(r.identities().keeper)
	s := l.newServer(r, k, true)
	switch err := l.take(s); {
	case errors.Is(err, errClosing):
		return nil // the next run may have it
	case err != nil:
		return errors.Join(err, l.endTree(target{id: r.ID, kind: r.Kind, keeper: k, server: s.ids.server}))
	}
	if err := l.exits.Watch(k.id); errors.Is(err, process.ErrGone) {
		k.end("")
	}
	l.o.Log.Info("a shared server of an earlier run goes on", "server", s.label())
	l.o.Adopted(s)
	return nil
}

// close refuses new starts, gives up those in progress, ends the servers of
// sessions and lets the others go on.
func (l *Launcher) close() {
	l.mu.Lock()
	l.refused = errClosing
	for _, giveUp := range l.starting {
		giveUp(errClosing)
	}
	l.mu.Unlock()

	hurry := time.AfterFunc(l.o.Limits.Close, func() { close(l.hurry) })
	defer hurry.Stop()
	var endings []*ending
	for _, s := range l.Servers() {
		if s.rec.Lifetime == Session {
			endings = append(endings, s.begin("the end of lamplighter"))
		}
	}
	for _, e := range endings {
		<-e.done // which logs what has survived
	}
	close(l.closed)
	l.busy.Wait()
	for _, s := range l.Servers() {
		s.keeper.leave()
	}
	if err := l.alive.release(); err != nil {
		l.o.Log.Warn("the lock of the keepers was not let go", "error", err)
	}
}
