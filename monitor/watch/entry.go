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

// child is a process that a client has started, of which it is to be found out
// whether it is in the client's settings.
type child struct {
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
	// settingsAge is how old those may be by which a process is still nobody's.
	settingsAge = 5 * time.Minute
)

// noteChild takes in a process that no rule knows, when a client has started it.
func (l *loop) noteChild(p process.Info, now time.Time) {
	if l.o.Settings == nil || l.o.Rules.Hides(p.Exe, p.Args) || !l.isBelowClient(p) || isWrapper(p) || clients.Of(p) != "" && !mayBeBoth(p) {
		return
	}
	if _, holder, err := process.Climb(l.o.System, p, isWrapper); err == nil {
		l.addChild(p, holder, now)
	}
}

// mayBeBoth reports whether a client may serve as well: claude mcp serve.
func mayBeBoth(p process.Info) bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool { return strings.HasPrefix(arg, "mcp") })
}

func isWrapper(p process.Info) bool {
	return command.IsLauncher(p.Exe, p.Args) || command.IsShim(p.Exe, p.Args)
}

// isBelowClient reports whether the nearest process above one that is no wrapper is a
// client.
func (l *loop) isBelowClient(p process.Info) bool {
	for range maxShims * 2 {
		parent, err := l.o.System.Read(p.Parent)
		switch {
		case err != nil:
			return false
		case clients.Of(parent) != "":
			return true
		case !isWrapper(parent):
			return false
		}
		p = parent
	}
	return false
}

// addChild gathers what is to be known of a process that a client has started: holder
// is what is above its wrappers. It does nothing for what no client has started.
func (l *loop) addChild(p process.Info, holder *process.Info, now time.Time) {
	above := l.aboveShims(holder)
	if l.o.Settings == nil || above == nil {
		return
	}
	c := &child{chain: []process.Info{p}, id: clients.Of(*above), holder: holder.Identity, since: now, began: now}
	if c.id == "" {
		return
	}
	for at := p; len(c.chain) <= maxShims*2; {
		parent, err := l.o.System.Read(at.Parent)
		if err != nil || parent.Identity == above.Identity {
			break
		}
		c.chain, at = append(c.chain, parent), parent
	}
	for _, id := range []monitor.Identity{above.Identity, p.Identity} {
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
func (l *loop) isPiped(c *child, untold bool) bool {
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
		if !l.livesOn(id) {
			delete(l.children, id)
			continue
		}
		entries, current := l.entriesFor(c, c.since)
		entry, found := rules.ByEntry(c.chain, entries, c.id)
		waits := !current && now.Sub(c.since) < settingsTime
		switch {
		case found:
			delete(l.children, id)
			if l.isPiped(c, true) { // else its entry has to do
				l.takeEntry(t, c, entry, now)
			}
		case waits, t != nil && t.in.OnPipes:
		case t != nil || !rules.MayServe(c.chain[0].Exe, c.chain[0].Args) || l.o.Rules.Hides(c.chain[0].Exe, c.chain[0].Args):
			delete(l.children, id)
		case now.Sub(c.began) >= unsureAge:
			delete(l.children, id)
			if !l.wraps(id) && l.isPiped(c, false) {
				l.beginUnsure(c, now)
				l.children[id] = c
			}
		}
	}
}

// wraps reports whether a process is only above a server, which has another client.
func (l *loop) wraps(id monitor.Identity) bool {
	for _, t := range l.tracked {
		if !t.in.OnPipes && l.isBelow(t, id) && !(t.linked() && t.in.Client != nil && t.in.Client.Identity == id) {
			return true
		}
	}
	return false
}

// askSettings has the settings read now and then for the processes that are in none.
func (l *loop) askSettings(now time.Time) {
	for _, c := range l.children {
		l.entriesFor(c, now.Add(-settingsAge))
	}
}

// entriesFor are the entries that count for a child, and whether all were read after
// since.
func (l *loop) entriesFor(c *child, since time.Time) (all []clients.Entry, current bool) {
	current = true
	for _, dir := range c.dirs {
		list, read := l.o.Settings.Entries(dir, since)
		all, current = append(all, list...), current && read
	}
	return all, current
}

// takeEntry makes an instance of a process that an entry tells about, or gives the
// entry to the instance that it is.
func (l *loop) takeEntry(t *tracked, c *child, e clients.Entry, now time.Time) {
	p := c.chain[0]
	entry := &monitor.Entry{Name: e.Name, Client: clients.NameOfID(e.Client), File: e.File, Scope: string(e.Scope), Plugin: e.Plugin}
	if t == nil || t.in.Certainty() != monitor.ByRule { // also what an entry told before
		entry.Proves, entry.Program = true, p.Exe
	}
	if t != nil && t.in.Recognised {
		t.in.Entry = entry
		return
	}
	if l.wraps(p.Identity) {
		return
	}
	kind := entryKind(e.Name, p)
	if t == nil {
		t = newTracked(p, kind, serena.Command{Args: p.Args}, now)
		if !l.begin(t, p, now) {
			return
		}
		delete(l.children, p.Identity)
	}
	t.in.Kind, t.kind, t.in.Recognised, t.in.OnPipes, t.in.Entry = kind, kind, true, false, entry
}

// entryKind is the kind of a server that only an entry of that name tells.
func entryKind(name string, p process.Info) string {
	kind := monitor.Clean(name)
	if kind == "" || strings.EqualFold(kind, monitor.KindSerena) { // what only its entry calls Serena has no dashboard
		kind = monitor.Clean(command.Parse(p.Exe, p.Args).Label()) + " (" + kind + ")"
	}
	return kind
}

// beginUnsure shows a process that its client talks to over pipes, and of which
// nothing else is known.
func (l *loop) beginUnsure(c *child, now time.Time) {
	p := c.chain[0]
	top := c.chain[len(c.chain)-1]
	label := cmp.Or(command.Parse(top.Exe, top.Args).Package, command.Parse(p.Exe, p.Args).Label())
	t := newTracked(p, label, serena.Command{Args: p.Args}, now)
	t.kind, t.in.Recognised, t.in.OnPipes = "", false, true
	l.begin(t, p, now)
}

// dropAbove forgets what was taken for a server by its entry, or shown on the pipes of
// a client, when it only is between a server and its client.
func (l *loop) dropAbove(t *tracked) {
	for id, other := range l.tracked {
		if other == t || !other.in.OnPipes && other.in.Certainty() != monitor.ByEntry || !l.isBelow(t, id) || t.in.Client != nil && t.in.Client.Identity == id {
			continue
		}
		if t.in.Entry == nil && other.in.Entry != nil {
			entry := *other.in.Entry
			entry.Proves, entry.Program = false, ""
			t.in.Entry = &entry
		}
		l.move(id, t.in.Identity)
		l.drop(id)
	}
}
