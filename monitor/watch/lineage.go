package watch

import (
	"cmp"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// lineage are the processes to which an instance belongs.
type lineage struct {
	root    monitor.Identity   // topmost wrapper
	parent  monitor.Identity   // zero when it had gone before
	members []monitor.Identity // processes that may own the dashboard port, and the launcher that it was taken for
	above   []monitor.Identity // from its parent on; looked at once
}

// parentOf is the identity of a process's parent, zero when that has gone: a
// process that started later has only got its pid.
func (l *loop) parentOf(p process.Info) monitor.Identity {
	parent, err := l.o.System.Stat(p.Parent)
	if err != nil || parent.Start > p.Start {
		return monitor.Identity{}
	}
	return parent.Identity
}

// findAncestors finds the topmost wrapper of a server, which is the server itself
// where there is none, and the client above it. Our shim counts to the wrappers: it
// ends with the server, and the client is whoever runs it. What is below a keeper was started
// by us, and its client is whom the launch names. What is above the client it does not
// look at: process.Above does.
func (l *loop) findAncestors(t *tracked, p process.Info) {
	isKeeper := func(p process.Info) bool { return command.IsKeeper(p.Exe, p.Args) }
	// A keeper may have more children than the server, as that of one that forks: it ends the climb.
	root, holder, err := process.Climb(l.o.System, p, func(p process.Info) bool { return isWrapper(p) && !isKeeper(p) })
	t.root = root
	if err != nil {
		return
	}
	switch above := l.skipShims(holder); {
	case above == nil:
	case isKeeper(*above):
		t.root, t.in.Keeper, t.in.Managed = above.Identity, above.Identity, true
		t.awaited = above.Parent == l.self.PID
	default:
		t.in.Client = &monitor.Client{Identity: above.Identity, Name: clients.NameOf(*above)}
	}
}

// skipShims is the program that runs a shim where the climb from a server ended
// at one, because that has other children: nil when it has gone.
func (l *loop) skipShims(p *process.Info) *process.Info {
	for range maxShims {
		if p == nil || !command.IsShim(p.Exe, p.Args) {
			return p
		}
		above, err := l.o.System.Read(p.Parent)
		if err != nil || above.PID <= 1 || above.Start > p.Start {
			return nil
		}
		p = &above
	}
	return nil
}

// maxShims bounds that climb: the verb above the shim, and the shim.
const maxShims = 4

// findLaunchKeeper finds the keeper of a launched server and what is between them. The
// launch names the keeper, so it need not have the server as its only child.
func (l *loop) findLaunchKeeper(t *tracked) {
	above, err := process.Above(l.o.System, t.in.Identity.PID)
	if err != nil {
		return
	}
	t.above = above
	at := slices.IndexFunc(above, func(id monitor.Identity) bool { return id == t.launch.Keeper || id == t.in.Keeper })
	if t.in.Keeper = (monitor.Identity{}); at >= 0 {
		t.root, t.in.Keeper = above[at], above[at]
	}
}

// runsSameServer reports whether a process of this kind and command is part of t when
// it is a child of one of its members. A Serena may start another one for
// another project; other servers start no second one of their kind.
func (t *tracked) runsSameServer(kind string, cmd serena.Command) bool {
	return t.ruleKind == kind && (kind != monitor.KindSerena || slices.Equal(t.cmd.Args, cmd.Args))
}

// stillRunsServer reports whether a process still has the command line of the instance.
// A language server that has just been forked had it, and the sockets too.
func (l *loop) stillRunsServer(t *tracked, pid int) bool {
	p, err := l.o.System.Read(pid)
	if err != nil {
		return false
	}
	kind, cmd, ok := recognise(l.o.Rules, p)
	return ok && t.runsSameServer(kind, cmd)
}

// findByMember is the instance that has a process among its members.
func (l *loop) findByMember(id monitor.Identity) *tracked {
	return l.findInstance(func(t *tracked) bool { return slices.Contains(t.members, id) })
}

// removeMember takes back that a process is a member: it was seen between its
// fork, with its parent's command line, and its exec.
func (l *loop) removeMember(id monitor.Identity) {
	for _, t := range l.tracked {
		t.members = slices.DeleteFunc(t.members, func(m monitor.Identity) bool { return m == id })
	}
}

// includes reports whether what was taken for a server is only part of t: a process between t
// and its keeper, also if a rule knows it, or one that runs the same and is one of its
// members or their child. A launcher of Windows or a fork has the arguments of the server.
func (t *tracked) includes(part *tracked) bool {
	return t.isBelowKeeper(part.in.Identity) || part.ruleKind != "" && part.runsSameServer(t.ruleKind, t.cmd) &&
		(slices.Contains(t.members, part.in.Identity) || slices.Contains(t.members, part.parent))
}

// findWhole is the instance of which a process that was taken for a server is part, nil for
// none. What is between a server and its keeper belongs to nobody else.
func (l *loop) findWhole(part *tracked) *tracked {
	kept := l.findInstance(func(t *tracked) bool { return t.isBelowKeeper(part.in.Identity) })
	return cmp.Or(kept, l.findInstance(func(t *tracked) bool { return t.includes(part) }))
}

// addMembers makes the members of a part of t its own.
func (t *tracked) addMembers(part *tracked) {
	for _, id := range part.members {
		if !slices.Contains(t.members, id) && !t.isBelowKeeper(id) {
			t.members = append(t.members, id)
		}
	}
}

// absorbParts makes part of t what was taken for another instance before.
func (l *loop) absorbParts(t *tracked) {
	for _, other := range l.tracked {
		if other != t && !other.isLaunched() && t.includes(other) {
			t.addMembers(other)
			l.mergeInto(other, t.in.Identity)
		}
	}
}

// mergeInto forgets an instance that turned out to be part of the one that has the identity
// whole, or of none that is told of in its place: nothing has ended.
func (l *loop) mergeInto(part *tracked, whole monitor.Identity) {
	l.moveAnnounced(part.in.Identity, whole)
	delete(l.tracked, part.in.Identity)
	part.releaseWaiting()
}

// moveToOwner makes the process that owns the dashboard port the server of the
// instance, in place of the launcher that has the same command line.
func (l *loop) moveToOwner(t *tracked, pid int) {
	i := slices.IndexFunc(t.members, func(id monitor.Identity) bool { return id.PID == pid })
	if i < 0 {
		return
	}
	old, owner := t.in.Identity, t.members[i]
	if !l.isAlive(owner) {
		return // it has just ended; the launcher's end will tell
	}
	delete(l.tracked, old)
	// The launcher lives on above the server, and stays a member: when the owner was a fork
	// that becomes another program, the launcher is found again.
	t.in.Identity, t.above = owner, nil
	t.cpuAt = time.Time{}
	l.tracked[owner] = t
	l.moveAnnounced(old, owner)
}

// isBelow reports whether a process is the server itself or above it.
func (l *loop) isBelow(t *tracked, id monitor.Identity) bool {
	if id == t.in.Identity || id == t.root || slices.Contains(t.members, id) {
		return true
	}
	if t.above == nil {
		t.above, _ = process.Above(l.o.System, t.in.Identity.PID) // asked again while it is not known
	}
	return slices.Contains(t.above, id)
}

// isBelowKeeper reports whether a process is above a launched server, and no further up
// than its keeper.
func (t *tracked) isBelowKeeper(id monitor.Identity) bool {
	top := slices.Index(t.above, cmp.Or(t.in.Keeper, t.root))
	return t.isLaunched() && slices.Contains(t.above[:top+1], id)
}

// hasKnownServerBelow reports whether a process is, or is above, a server that is known
// otherwise than by the word of a shim.
func (l *loop) hasKnownServerBelow(id monitor.Identity) bool {
	return l.findInstance(func(t *tracked) bool { return !t.isDedicated() && l.isBelow(t, id) }) != nil
}

// isOnlyWrapper reports whether a process is only above a server, which has another client.
func (l *loop) isOnlyWrapper(id monitor.Identity) bool {
	return l.findInstance(func(t *tracked) bool {
		return t.in.Identity != id && !t.in.OnPipes && l.isBelow(t, id) && !(t.hasPipe() && t.in.Client != nil && t.in.Client.Identity == id)
	}) != nil
}

// mergeWrappers forgets what was taken for a server by its entry, or shown on the pipes of
// a client, when it only is between a server and its client.
func (l *loop) mergeWrappers(t *tracked) {
	for id, other := range l.tracked {
		if other == t || !other.in.OnPipes && other.in.Certainty() != monitor.ByEntry || !l.isBelow(t, id) || t.in.Client != nil && t.in.Client.Identity == id {
			continue
		}
		if t.in.Entry == nil && other.in.Entry != nil {
			entry := *other.in.Entry
			entry.Proves, entry.Program = false, ""
			t.in.Entry = &entry
		}
		l.mergeInto(other, t.in.Identity)
	}
}
