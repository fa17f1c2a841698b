package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// How long each step of an ending may take.
const (
	askTime    = 1200 * time.Millisecond // a Serena, to stop its language servers
	leaveTime  = 200 * time.Millisecond  // what is left of a server that has ended, to end by itself
	keeperTime = 5 * time.Second         // a keeper, which gives 3 s and 1 s
	askEvery   = 10 * time.Millisecond
)

// Who has a server ended because nobody uses it.
const (
	ByParking = "parking"
	ByLeaving = "the leave of its last client"
)

// supervise waits for the end of a server and clears away what is left of it.
func (l *Launcher) supervise(s *Server) {
	defer l.busy.Done()
	select {
	case <-s.exited:
	case <-s.keeper.gone:
	case <-s.done:
		return
	case <-l.closed:
		return
	}
	for waits := l.retries(); ; {
		e := s.begin("")
		<-e.done
		if e.err == nil {
			return
		}
		l.o.Log.Warn("something of a server that has ended runs on", "server", s.label(), "error", e.err)
		if !waits.wait(l.closed) {
			return
		}
	}
}

// finish ends all of a server; see Server.End. Who has it ended is empty when
// it has ended by itself.
func (l *Launcher) finish(s *Server, by string) error {
	byItself := s.hasEnded()
	order := strconv.FormatInt(time.Now().UnixMilli(), 36)
	event := func(kind monitor.EventKind, detail string) monitor.Event {
		e := s.event(kind, detail)
		e.Order = order
		return e
	}
	note := func(monitor.EventKind, string) {}
	if by != "" && !byItself {
		note = func(kind monitor.EventKind, detail string) { l.o.Record(event(kind, detail)) }
		note(monitor.EventStopOrdered, "by "+monitor.Clean(by))
		if port := l.askToEnd(s); port != 0 {
			note(monitor.EventAsked, fmt.Sprintf("on port %d", port))
		}
		note(monitor.EventTerminated, "its keeper, which ends all of it")
	} else {
		s.keeper.wait(leaveTime, l.hurry)
	}
	heard := s.keeper.news()
	if s.keeper.isGone() && lives(s.ids.server) {
		heard.exited = "ended because its keeper had died"
	}
	memory := memoryOf(s.ids.keeper)
	if err := l.endTree(target{id: s.rec.ID, kind: s.rec.Kind, keeper: s.keeper, server: s.ids.server, forced: func() {
		note(monitor.EventForceKilled, "it did not end in time")
	}}); err != nil {
		note(monitor.EventStopFailed, err.Error())
		return err
	}
	if byItself && heard.exited == "" && heard.child == s.ids.server {
		heard.exited = s.keeper.news().exited // of before we did anything: its keeper was slow to say it
	}
	if err := l.forget(s.rec.ID); err != nil {
		l.o.Log.Warn("what a server has left on disk cannot be removed", "server", s.label(), "error", err)
	}
	if by != "" && !byItself {
		e := event(monitor.EventEnded, "by "+monitor.Clean(by)+"; all of it is gone")
		e.FreedBytes, e.Unused = memory, by == ByParking || by == ByLeaving
		l.o.Record(e)
	}
	l.exits.Forget(s.ids.server)
	l.exits.Forget(s.ids.keeper)
	l.mu.Lock()
	delete(l.servers, s.rec.ID)
	l.mu.Unlock()
	s.close(byItself, heard)
	return nil
}

// memoryOf is the resident memory of a tree, 0 when it cannot be told.
func memoryOf(root monitor.Identity) uint64 {
	tree, err := process.Tree(root)
	if err != nil {
		return 0
	}
	var sum uint64
	for _, p := range tree {
		sum += p.RSSBytes
	}
	return sum
}

// askToEnd asks a Serena to end by itself, so that it saves what its language
// servers know, and waits until they have gone. It returns the port at which it
// was asked, 0 when it was not: one without language servers has nothing to
// save, and one that does not answer is not waited for.
func (l *Launcher) askToEnd(s *Server) (port int) {
	port = s.rec.DashboardPort
	if s.rec.Kind != monitor.KindSerena || port == 0 || !hasChildren(s.ids.server) {
		return 0
	}
	// Somebody else may have the port by now.
	now, err := looker(s.ids.keeper)()
	if owner, owned := now.owner(port); err != nil || !owned || owner != s.ids.server {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	if err := l.dashboard.Shutdown(ctx, port); err != nil {
		l.o.Log.Info("a server could not be asked to end", "server", s.label(), "error", err)
		return 0
	}
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for hasChildren(s.ids.server) {
		select {
		case <-tick.C:
		case <-s.exited:
			return port
		case <-ctx.Done():
			return port
		}
	}
	return port
}

// hasChildren reports whether there is something below a Serena that lives, and is
// not what people work in.
func hasChildren(id monitor.Identity) bool {
	tree, err := process.Tree(id)
	if err != nil {
		return false
	}
	spared := divide(tree,
		func(p monitor.Identity) bool { return isTheirs(p, command.SparesBrowsers(monitor.KindSerena)) },
		func(p monitor.Identity) bool { return p == id })
	return slices.ContainsFunc(tree[1:], func(p process.Stat) bool {
		return p.State != process.Unreaped && !spared[p.Identity]
	})
}

// target is a keeper with all below it, to be ended.
type target struct {
	id     string // the value of the mark
	kind   string // of the server
	keeper *keeper
	server monitor.Identity // zero = not known
	forced func()           // told when force is used, or nil
}

// endTree ends all of it: the keeper does that when it is asked to; what it
// leaves, or all of it when the keeper has died, is ended by the mark and by
// identity. What people work in goes on. The error Is ErrSurvived.
func (l *Launcher) endTree(t target) error {
	b := newBroom(t.id, command.SparesBrowsers(t.kind), t.keeper.id, t.keeper.news().child, t.server)
	if !t.keeper.isGone() {
		terminate(t.keeper.id)
		if !t.keeper.wait(l.o.Limits.Keeper, l.hurry) {
			if t.forced != nil {
				t.forced()
			}
			// Killed together with its keeper, nothing of it can get away.
			b.collect()
		}
	}
	return b.sweep(l.hurry)
}

// terminate asks a process to end, also when it is suspended.
func terminate(id monitor.Identity) {
	h, err := process.Hold(id)
	if err != nil {
		return
	}
	defer h.Close()
	_ = h.Terminate() // what does not end is killed later
	_ = h.Continue()
}

// wait waits for the end of the keeper, until the limit or until there is no
// more time, and tells whether it has come.
func (k *keeper) wait(limit time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-k.gone:
		return true
	case <-timer.C:
	case <-hurry:
	}
	return k.isGone()
}

// logTail is the end of a server's log, as its keeper has written it so far.
func logTail(path string) string {
	f, err := statefile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	const length = 16 << 10
	if info, err := f.Stat(); err == nil && info.Size() > length {
		if _, err := f.Seek(-length, io.SeekEnd); err != nil {
			return ""
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, length))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return string(text)
}
