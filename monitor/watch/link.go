package watch

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// clientLink is what is known, beside its Evidence, about the hold of a client on a server over
// stdio. The pipe is recorded while the client lives, because afterwards a dead
// language server leaves the same picture.
type clientLink struct {
	pipeTries  int       // to find the pipe
	clientGone time.Time // when its client ended; zero while that lives, or was never seen

	aloneBefore time.Time // since when it is alone, by what was known before; until it is looked at
}

// hasPipe reports whether the pipe to its client was recorded.
func (t *tracked) hasPipe() bool { return t.in.Evidence.Pipe != (monitor.Pipe{}) }

const (
	// maxPipeTries is how often a link is looked for, at first sight and then once
	// per burst: a server takes its pipes over as it starts, and one that has none, such as a
	// server that somebody runs in a terminal, never gets any.
	maxPipeTries = 3
	// leavingTime is how long after the client's death a server is looked at
	// in every tick instead of in every burst.
	leavingTime = time.Minute
)

// checkClient keeps the evidence about a server's client up to date. Nothing
// is looked at while a recorded client lives: its exit is told.
func (l *loop) checkClient(t *tracked, burst bool, now time.Time) {
	e := &t.in.Evidence
	switch {
	case !t.isOverStdio() || e.Orphaned:
	case e.Suspected:
		if burst { // it is only a suspicion
			l.checkPipe(t, now)
		}
	case !t.clientGone.IsZero():
		if burst || now.Sub(t.clientGone) < leavingTime {
			l.checkPipe(t, now)
		}
	case !burst && t.pipeTries > 0:
	case t.in.Client == nil:
		t.pipeTries = maxPipeTries
		l.checkPipe(t, now)
	case !t.hasPipe() && t.pipeTries < maxPipeTries:
		t.pipeTries++
		l.recordPipe(t)
	}
}

// recordPipe records the link of a server to the client that holds it: the
// program above its wrappers, or one further up that started it by a script of
// its own.
func (l *loop) recordPipe(t *tracked) {
	before := t.in.Client.Identity
	holder, pipe, found, err := l.o.System.Ends(t.in.Identity).Holder(before)
	if errors.Is(err, errors.ErrUnsupported) {
		l.mergeWrappers(t)
	}
	if err != nil || !found {
		return
	}
	t.in.Evidence.Pipe = pipe
	if holder.Identity != before {
		t.in.Client = &monitor.Client{Identity: holder.Identity, Name: clients.NameOf(holder)}
	}
	l.mergeWrappers(t)
}

// checkPipe looks whether somebody still holds the other end of a server whose
// client has gone, or was never seen.
func (l *loop) checkPipe(t *tracked, now time.Time) {
	e, ends := &t.in.Evidence, l.o.System.Ends(t.in.Identity)
	var unheld, orphaned, suspected bool
	if t.hasPipe() {
		closed, err := ends.Closed(e.Pipe)
		// An end that the server itself has given up connects nobody either.
		unheld = closed && err == nil || errors.Is(err, process.ErrUnheld)
	} else {
		abandoned, err := ends.Abandoned()
		// Where pipes cannot be looked at, the death of a client that was
		// known is all there is.
		unheld = abandoned && err == nil || errors.Is(err, errors.ErrUnsupported) && !t.clientGone.IsZero()
	}
	if unheld {
		others, err := l.hasUnixClients(t)
		orphaned = t.hasPipe() && !others && err == nil
		suspected = !orphaned && (t.hasPipe() || !others)
	}
	switch {
	case !orphaned && !suspected:
		e.AloneSince = time.Time{}
	case !e.Orphaned && !e.Suspected, orphaned && e.Suspected:
		// Those who may have used it until now are not gone since its client is. What has
		// been closed is closed for good, so that an earlier look counts. What was only
		// suspected until now proves nothing about what is closed.
		e.AloneSince = cmp.Or(t.aloneBefore, now)
	}
	e.Orphaned, e.Suspected, t.aloneBefore = orphaned, suspected, time.Time{}
}

// isOverStdio tells a server whose client is whoever holds its pipes. One that
// listens anywhere may have clients that no pipe tells of.
func (t *tracked) isOverStdio() bool {
	if t.in.Managed { // whoever asked for it may go: it waits for the next
		return false
	}
	if !t.isSerena() {
		return t.looked && !t.listens
	}
	return t.in.Recognised && t.cmd.Transport == "stdio"
}

// hasUnixClients reports whether a client has come in over a unix socket, of which no list
// of ports tells, and no pipe; with an error one may have. What a Serena starts, such as a
// language server that several of them share, takes none of its clients.
func (l *loop) hasUnixClients(t *tracked) (bool, error) {
	tree, err := l.treeOf(t)
	if err != nil && !errors.Is(err, process.ErrGone) { // what has ended holds nothing
		return false, err
	}
	servers := slices.Clone(t.members)
	if !t.isSerena() {
		for _, st := range tree {
			servers = append(servers, st.Identity)
		}
	}
	has, err := l.o.System.Ends(t.in.Identity).HasUnixClients(servers)
	if t.isSerena() && errors.Is(err, errors.ErrUnsupported) { // it is reached otherwise
		err = nil
	}
	return has, err
}
