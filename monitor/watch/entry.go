package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
)

// Settings are those of the clients: *clients.Settings. It must be safe for
// concurrent use and must not block.
type Settings interface {
	// Entries are those that count in a directory, and whether they were read after
	// since; if not, Serve reads them.
	Entries(dir string, since time.Time) (list []clients.Entry, current bool)
	// Look reads now what was asked for. It blocks.
	Look()
	// Serve reads what was asked for, and calls changed each time.
	Serve(ctx context.Context, changed func()) error
}

// clientChild is a process that a client has started, of which it is to be found out
// whether it is in the client's settings.
type clientChild struct {
	chain  []process.Info   // the process, and what is above it up to the client's own child
	id     string           // of the client
	dirs   []string         // in which client and process work
	holder monitor.Identity // who would hold the other end of its pipes: the client, or our shim
	since  time.Time
	began  time.Time // when the process started, since if that is not known
}

const (
	// unsureAge is how long a process has to be on the pipes of a client to be shown:
	// what a client asks once ends before.
	unsureAge = 3 * time.Second
	// settingsTime is how long settings are waited for.
	settingsTime = 10 * time.Second
	// settingsAge is how old those may be by which a process is still nobody's, when all
	// dashboards are asked: a file that has not changed is not read again.
	settingsAge = burstEvery * 2 / 3
)

// mayBeChild reports whether a process may be the server of an entry, and nothing that
// starts one.
func (l *loop) mayBeChild(p process.Info) bool {
	return !l.o.Rules.Hides(p.Exe, p.Args) && !isWrapper(p) && (clients.Of(p) == "" || mayServeToo(p))
}

// mayServeToo reports whether a client may serve as well: claude mcp serve.
func mayServeToo(p process.Info) bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool { return strings.HasPrefix(arg, "mcp") })
}

func isWrapper(p process.Info) bool {
	return command.IsLauncher(p.Exe, p.Args) || command.IsShim(p.Exe, p.Args)
}

// findClient is the client that has started a process, and the process with the wrappers
// between the two; nil when something else has.
func (l *loop) findClient(p process.Info) (client *process.Info, chain []process.Info) {
	for range maxShims * 2 {
		chain = append(chain, p)
		switch parent, err := l.o.System.Read(p.Parent); {
		case err == nil && isWrapper(parent):
			p = parent
		case err == nil && clients.Of(parent) != "":
			return &parent, chain
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// addChild gathers what is to be known of a process that a client has started, and that is
// the only one below its wrappers. It does nothing for what no client has started.
func (l *loop) addChild(p process.Info, now time.Time) {
	if l.o.Settings == nil {
		return
	}
	client, chain := l.findClient(p)
	if client == nil {
		return
	}
	_, holder, err := process.Climb(l.o.System, p, isWrapper)
	if above := l.skipShims(holder); err != nil || above == nil || above.Identity != client.Identity {
		return
	}
	c := &clientChild{chain: chain, id: clients.Of(*client), holder: holder.Identity, since: now, began: now}
	for _, id := range []monitor.Identity{client.Identity, p.Identity} {
		if dir, err := l.o.System.Ends(id).Directory(); err == nil && !slices.Contains(c.dirs, dir) {
			c.dirs = append(c.dirs, dir)
		}
	}
	if began, err := l.o.System.Started(p.Identity); err == nil {
		c.began = began
	}
	if len(c.dirs) == 0 {
		c.dirs = []string{""} // the user's settings count everywhere
	}
	l.children[p.Identity] = c
}

// isPiped reports whether the client, or our shim, holds the standard input and output
// of a child. Where that is not told the answer is untold. All that a client holds is
// read for this.
func (l *loop) isPiped(c *clientChild, untold bool) bool {
	_, _, found, err := l.o.System.Ends(c.chain[0].Identity).Holder(c.holder)
	return found || untold && errors.Is(err, errors.ErrUnsupported)
}

// nameChildren finds the entries of the processes that clients have started: of those
// that are not shown yet, or of all.
func (l *loop) nameChildren(all bool, now time.Time) {
	for id, c := range l.children {
		t := l.tracked[id]
		if t != nil && t.in.OnPipes && !all {
			continue // it may be in the settings later
		}
		if !l.isAlive(id) || !l.nameChild(c, t, now) {
			delete(l.children, id)
		}
	}
}

// nameChild finds the entry of one, which is t when it is tracked. It reports whether that
// is to be tried again.
func (l *loop) nameChild(c *clientChild, t *tracked, now time.Time) (again bool) {
	p, since := c.chain[0], c.since
	young := now.Sub(c.began) < l.o.limits.tick
	if young { // a tool of the client's may be called often, and ends before
		since = time.Time{}
	}
	entries, current := l.entriesFor(c, since)
	entry, found := rules.ByEntry(c.chain, entries, c.id, c.dirs)
	switch {
	case found:
		l.entriesFor(c, c.since) // asks, so that the next one has its name of now
		if l.isPiped(c, true) {  // else its entry has to do
			l.applyEntry(t, p, entry, now)
		}
		return false
	case young, !current && now.Sub(c.since) < settingsTime, t != nil && t.in.OnPipes:
		return true
	case t != nil || !rules.MayServe(p.Exe, p.Args) || l.o.Rules.Hides(p.Exe, p.Args):
		return false
	case now.Sub(c.began) < unsureAge:
		return true
	case l.isOnlyWrapper(p.Identity) || !l.isPiped(c, false):
		return false
	}
	l.trackUnsure(c, now)
	return true
}

// entriesFor are the entries that count for a child, and whether all were read after
// since.
func (l *loop) entriesFor(c *clientChild, since time.Time) (all []clients.Entry, current bool) {
	current = true
	for _, dir := range c.dirs {
		list, read := l.o.Settings.Entries(dir, since)
		all, current = append(all, list...), current && read
	}
	return all, current
}

// applyEntry makes an instance of a process that an entry tells about, or gives the
// entry to the instance that it is.
func (l *loop) applyEntry(t *tracked, p process.Info, e clients.Entry, now time.Time) {
	entry := &monitor.Entry{Name: e.Name, Client: clients.NameOfID(e.Client), File: e.File, Scope: string(e.Scope), Project: e.Dir, Plugin: e.Plugin}
	if t == nil || t.in.Certainty() != monitor.ByRule { // also what an entry told before
		entry.Proves, entry.Program = true, p.Exe
	}
	if t != nil && t.in.Recognised {
		t.in.Entry = entry
		return
	}
	if l.isOnlyWrapper(p.Identity) {
		return
	}
	kind := entryKind(e.Name, p)
	if t == nil {
		t = l.track(l.newTracked(p, kind, serena.Command{}, now), p, now)
	}
	t.in.Kind, t.ruleKind, t.in.Recognised, t.in.OnPipes, t.in.Sharing, t.in.Entry = kind, kind, true, false, nil, entry
}

// entryKind is the kind of a server that only an entry of that name tells.
func entryKind(name string, p process.Info) string {
	kind := monitor.Clean(name)
	if kind == "" || strings.EqualFold(kind, monitor.KindSerena) { // what only its entry calls Serena has no dashboard
		kind = monitor.Clean(command.Parse(p.Exe, p.Args).Label()) + " (" + kind + ")"
	}
	return kind
}

// trackUnsure shows a process that its client talks to over pipes, and of which
// nothing else is known.
func (l *loop) trackUnsure(c *clientChild, now time.Time) {
	p := c.chain[0]
	top := c.chain[len(c.chain)-1]
	label := cmp.Or(command.Parse(top.Exe, top.Args).Package, command.Parse(p.Exe, p.Args).Label())
	t := l.newTracked(p, label, serena.Command{}, now)
	t.ruleKind, t.in.Recognised, t.in.OnPipes = "", false, true
	l.track(t, p, now)
}
