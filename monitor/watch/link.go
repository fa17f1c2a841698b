package watch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// evidence is what is known about the hold of a client on a server over stdio.
// The link is recorded while the client lives, because afterwards a dead
// language server leaves the same picture.
type evidence struct {
	link   monitor.Pipe
	linked bool // link is known
	tries  int  // to find it

	clientGone time.Time // zero while it lives, or was never seen
	closed     bool      // nobody holds the other end any more, for good
	suspected  bool      // so it seems, but the link was never recorded, or clients may come another way
	since      time.Time // of closed or suspected
	once       bool      // by a single look: there is no later one to wait for

	closedBefore, suspectedBefore time.Time // since when, by what was known before; until it is looked at
}

// alone reports whether somebody was found to be missing.
func (e *evidence) alone() bool { return e.closed || e.suspected }

// before is since when it was known, of what is found now, that it is alone.
func (e *evidence) before() time.Time {
	if e.closed {
		return e.closedBefore
	}
	return e.suspectedBefore
}

const (
	// linkTries is how often a link is looked for, at first sight and then once
	// per burst: a server takes its pipes over as it starts, and one that has none, such as a
	// server that somebody runs in a terminal, never gets any.
	linkTries = 3
	// leavingTime is how long after the client's death a server is looked at
	// in every tick instead of in every burst.
	leavingTime = time.Minute
)

// lookForClient keeps the evidence about a server's client up to date. Nothing
// is looked at while a recorded client lives: its exit is told.
func (l *loop) lookForClient(t *tracked, burst bool, now time.Time) {
	e := &t.evidence
	switch {
	case !t.overStdio() || e.closed:
	case e.suspected:
		if burst { // it is only a suspicion
			l.lookForEnd(t, now)
		}
	case !e.clientGone.IsZero():
		if burst || now.Sub(e.clientGone) < leavingTime {
			l.lookForEnd(t, now)
		}
	case !burst && e.tries > 0:
	case t.in.Client == nil:
		e.tries = linkTries
		l.lookForEnd(t, now)
	case !e.linked && e.tries < linkTries:
		e.tries++
		l.findLink(t, now)
	}
}

// findLink records the link of a server to the client that holds it: the
// program above its wrappers, or one further up that started it by a script of
// its own.
func (l *loop) findLink(t *tracked, now time.Time) {
	before := t.in.Client.Identity
	holder, link, found, err := l.o.System.Ends(t.in.Identity).Holder(before)
	l.noteDoubt(t, err)
	if errors.Is(err, errors.ErrUnsupported) {
		l.dropAbove(t)
	}
	if err != nil || !found {
		return
	}
	t.evidence.link, t.evidence.linked = link, true
	if holder.Identity != before {
		t.in.Client = &monitor.Client{Identity: holder.Identity, Name: clients.NameOf(holder)}
		l.unwatch(before)
		l.watchClient(t, now)
	}
	l.dropAbove(t)
}

// lookForEnd looks whether somebody still holds the other end of a server whose
// client has gone, or was never seen.
func (l *loop) lookForEnd(t *tracked, now time.Time) {
	e := &t.evidence
	was, suspected := e.alone(), e.suspected
	if e.linked {
		closed, err := l.o.System.Ends(t.in.Identity).Closed(e.link)
		l.noteDoubt(t, err)
		// An end that the server itself has given up connects nobody either.
		e.closed, e.suspected = closed && err == nil || errors.Is(err, process.ErrUnheld), false
		if e.closed {
			if err := t.doors().shut(l.o.System); err != nil {
				l.o.Log.Debug("a server without its client may have others", "instance", t.in.Label(), "pid", t.in.Identity.PID, "error", err)
				e.closed, e.suspected = false, true
			}
		}
	} else {
		abandoned, err := l.o.System.Ends(t.in.Identity).Abandoned()
		if errors.Is(err, errors.ErrUnsupported) {
			// Where pipes cannot be looked at, the death of a client that was
			// known is all there is.
			abandoned, err = !e.clientGone.IsZero(), nil
		}
		l.noteDoubt(t, err)
		e.suspected = abandoned && err == nil && !errors.Is(t.doors().shut(l.o.System), errUnixClients)
	}
	// Those who may have used it until now are not gone since its client is.
	if e.alone() && !was || e.closed && suspected {
		e.since, e.once = now, l.exits == nil
		// What has been closed is closed for good, so that an earlier look counts. What
		// was only suspected then proves nothing about what is closed now.
		if before := e.before(); !before.IsZero() {
			e.since = before
		}
	}
	e.closedBefore, e.suspectedBefore = time.Time{}, time.Time{}
}

func (l *loop) noteDoubt(t *tracked, err error) {
	if err != nil && !errors.Is(err, process.ErrGone) && !errors.Is(err, process.ErrUnheld) && !errors.Is(err, errors.ErrUnsupported) {
		l.o.Log.Debug("what holds a server's pipes is not known", "instance", t.in.Label(), "pid", t.in.Identity.PID, "error", err)
	}
}

// clientEnded takes note that a process which may be a client has gone.
func (l *loop) clientEnded(id monitor.Identity, now time.Time) {
	for _, t := range l.tracked {
		if t.watchesClient(id) && t.evidence.clientGone.IsZero() {
			t.evidence.clientGone = now
			l.lookForClient(t, false, now)
		}
	}
}

// overStdio tells a server whose client is whoever holds its pipes. One that
// listens anywhere may have clients that no pipe tells of.
func (t *tracked) overStdio() bool {
	if t.in.Managed { // whoever asked for it may go: it waits for the next
		return false
	}
	if !t.isSerena() {
		return t.looked && !t.listens
	}
	return t.in.Recognised && t.cmd.Transport == "stdio"
}

// doors are the processes of a server in which clients may arrive over unix
// sockets: no list of ports tells of them, and no pipe.
type doors struct {
	server, root monitor.Identity // of its tree
	members      []monitor.Identity
	below        bool // what it has started counts as well
}

// doors are those of t. What a Serena starts, such as a language server that
// several of them share, takes none of its clients.
func (t *tracked) doors() doors {
	return doors{t.in.Identity, t.root, slices.Clone(t.members), !t.isSerena()}
}

var errUnixClients = errors.New("it may have clients over a unix socket")

// shut is nil when no client can have come in: otherwise the error says how one
// may have, or what could not be found out.
func (d doors) shut(s process.System) error {
	tree, err := s.Tree(d.root)
	if errors.Is(err, process.ErrGone) { // a wrapper may end and leave the server running
		tree, err = s.Tree(d.server)
	}
	if errors.Is(err, process.ErrGone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("whether it listens is not known: %w", err)
	}
	servers := slices.Clone(d.members)
	if d.below {
		for _, st := range tree {
			servers = append(servers, st.Identity)
		}
	}
	taken, err := s.Ends(d.server).HasUnixClients(servers)
	switch {
	case taken:
		return errUnixClients
	case errors.Is(err, errors.ErrUnsupported) && !d.below: // a Serena is reached otherwise
		return nil
	case err != nil:
		return fmt.Errorf("whether it has clients over a unix socket is not known: %w", err)
	}
	return nil
}

// watchClient makes the end of t's client known at once.
func (l *loop) watchClient(t *tracked, now time.Time) {
	if l.exits == nil || t.in.Client == nil || t.in.Managed {
		return
	}
	if err := l.exits.Watch(t.in.Client.Identity); errors.Is(err, process.ErrGone) {
		t.evidence.clientGone = now
	}
}

// watchesClient reports whether a process is the client whose end matters to t:
// that of whoever asked us for a server does not.
func (t *tracked) watchesClient(id monitor.Identity) bool {
	return t.in.Client != nil && t.in.Client.Identity == id && !t.in.Managed
}

// unwatch ends the watch of a process unless it is a server, or the client of
// one, that is still tracked.
func (l *loop) unwatch(id monitor.Identity) {
	if l.exits == nil || l.tracked[id] != nil {
		return
	}
	for _, t := range l.tracked {
		if t.watchesClient(id) {
			return
		}
	}
	l.exits.Forget(id)
}

// release ends the watches that only t, which is tracked no more, needed.
func (l *loop) release(t *tracked) {
	for _, answer := range slices.Concat(t.waiting, t.asked) {
		answer <- fresh{err: errUnwatched}
	}
	l.unwatch(t.in.Identity)
	if t.in.Client != nil {
		l.unwatch(t.in.Client.Identity)
	}
}
