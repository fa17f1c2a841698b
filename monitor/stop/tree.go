package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// member is a process of the tree.
type member struct {
	id      monitor.Identity
	name    string              // of its program, safe to show
	handle  process.HeldProcess // nil with spared: nothing is ever sent to it
	spared  error               // ErrOurs, ErrAncestor, ErrOtherUser or errBelow; nil: it may be signalled
	alive   bool
	refused bool // the system did not let us signal it
	rss     uint64

	suspended  bool // by somebody else
	still      bool // suspended by us, until it is continued
	terminated bool
	killed     bool
}

// reachable reports whether the member lives and may be signalled. One that refused a
// signal is still waited for while others are.
func (m *member) reachable() bool { return m.alive && m.spared == nil && !m.refused }

func anybody(*member) bool { return true }

// heldTree is the tree of an instance, held: there is a handle for every member that
// is not spared.
type heldTree struct {
	system process.System
	limits Limits
	canAsk bool                           // it has a dashboard that can be asked
	atOnce bool                           // the system knows no gentle end (Windows), and suspends nobody
	spare  func(pid int) (why, err error) // nil: it may be ended
	theirs func(process.Info) bool        // is what people work in, and no part of the tree

	members    []*member // the root first, parents before children
	at         map[int]*member
	server     *member // of an instance; of a language server nil
	serverInfo process.Info
	beside     []Process   // what people work in, which goes on
	elsewhere  []elsewhere // what the members have run that is no process below them

	frozen time.Duration // how long it took until members stood still, together
	denied error         // what the system said when it refused a signal
}

// hold re-checks who the server is and takes hold of its whole tree. Nothing is
// sent. The tree is to be released, also if there is an error beside it.
func (l *Ladder) hold(in *monitor.Instance, o Order) (*heldTree, error) {
	if in.Identity.PID <= 0 {
		return nil, fmt.Errorf("%s has no process to end: %w", in.Label(), process.ErrGone)
	}
	server, err := l.o.System.Read(in.Identity.PID)
	if err == nil && server.Identity != in.Identity {
		err = fmt.Errorf("process %d is another one by now: %w", in.Identity.PID, process.ErrGone)
	}
	if err != nil {
		return nil, fmt.Errorf("%s has ended already: %w", in.Label(), err)
	}
	if s, err := l.o.System.Stat(server.PID); err == nil && s.State == process.Unreaped {
		return nil, fmt.Errorf("%s has ended already, only %s, which started it, has not taken note: %w",
			in.Label(), l.named(s.Parent), process.ErrGone)
	}
	root, kept := l.keeper(in)
	if !kept {
		if root, _, err = process.Climb(l.o.System, server, isLauncher); err != nil {
			l.o.Log.Warn("looking for wrappers above a server failed; it is ended without them", "instance", in.Label(), "error", err)
			root = server.Identity
		}
	}
	tree, err := l.collect(in.Kind, root, o)
	if err == nil && root != server.Identity {
		// What is above the server has to be its wrapper, and never its client.
		noWrapper := tree.member(server.Identity) == nil || in.Client != nil && tree.member(in.Client.Identity) != nil
		if noWrapper {
			l.o.Log.Warn("what seemed to be a wrapper is none; the server is ended without it", "instance", in.Label(), "pid", root.PID)
		}
		// A keeper that is ended takes all that is below it along on Windows. It
		// ends by itself, or is ended by who started it, when the server has gone.
		// What cannot be read any more is left alone, whatever it is.
		top, failed := l.o.System.Read(root.PID)
		if noWrapper || failed != nil || len(tree.beside) > 0 && command.IsKeeper(top.Exe, top.Args) {
			tree.release()
			tree, err = l.collect(in.Kind, server.Identity, o)
		}
	}
	if errors.Is(err, process.ErrGone) {
		err = fmt.Errorf("%s has ended already: %w", in.Label(), err)
	}
	if err == nil {
		tree.server, tree.serverInfo = tree.member(server.Identity), server
	}
	return tree, err
}

// theirs tells a program that people work in, which is no part of a server of
// that kind.
func theirs(kind string, p process.Info) bool {
	return command.IsUserApp(p.Exe, p.Name, command.SparesBrowsers(kind))
}

func isLauncher(p process.Info) bool { return command.IsLauncher(p.Exe, p.Args) }

// keeper is the one above a server that we have started. All that is below it is
// the server's, also what has left the server.
func (l *Ladder) keeper(in *monitor.Instance) (monitor.Identity, bool) {
	if in.Keeper.PID <= 0 {
		return monitor.Identity{}, false
	}
	above, err := process.Above(l.o.System, in.Identity.PID)
	if err != nil || !slices.Contains(above, in.Keeper) {
		return monitor.Identity{}, false
	}
	info, err := l.o.System.Read(in.Keeper.PID)
	return in.Keeper, err == nil && info.Identity == in.Keeper && command.IsKeeper(info.Exe, info.Args)
}

// maxLooks is how often a tree is looked at until it is taken as it is. What it
// starts later joins it later.
const maxLooks = 4

// collect takes hold of the tree of a server of some kind, and looks at it until a look
// finds nothing new.
func (l *Ladder) collect(kind string, root monitor.Identity, o Order) (*heldTree, error) {
	protect, err := l.protected(kind, o)
	if err != nil {
		return nil, err
	}
	tree := &heldTree{
		system: l.o.System, limits: l.o.Limits, atOnce: atOnce, at: map[int]*member{},
		spare:  func(pid int) (error, error) { return l.spared(protect, pid) },
		theirs: func(info process.Info) bool { return theirs(kind, info) },
	}
	s, err := l.o.System.Stat(root.PID)
	if err != nil {
		return tree, err
	}
	if err := tree.take(s, nil); err != nil {
		return tree, err
	}
	for looks, known := 0, 0; known < len(tree.members) && looks < maxLooks; looks++ {
		known = len(tree.members)
		if err := tree.look(); err != nil {
			return tree, err
		}
	}
	if tree.member(root) == nil {
		return tree, fmt.Errorf("process %d: %w", root.PID, process.ErrGone)
	}
	return tree, nil
}

// take makes a process a member: spared, or held. What people work in is none below
// another member.
func (tree *heldTree) take(s process.Stat, parent *member) error {
	info, _ := tree.system.Read(s.PID) // nothing of what is gone or hidden
	name := nameOf(info)
	if parent != nil && info.Identity == s.Identity && tree.theirs(info) {
		if one := (Process{s.PID, name}); !slices.Contains(tree.beside, one) {
			tree.beside = append(tree.beside, one)
		}
		return process.ErrGone
	}
	m := &member{id: s.Identity, name: name, alive: true, suspended: s.State == process.Stopped}
	why, err := tree.spare(s.PID)
	if err != nil {
		return err
	}
	if why == nil && parent != nil && parent.spared != nil {
		why = errBelow
	}
	if m.spared = why; why == nil {
		if m.handle, err = tree.system.Hold(s.Identity); err != nil {
			return err
		}
		m.rss = s.RSSBytes
	}
	tree.at[s.PID] = m
	tree.members = append(tree.members, m)
	return nil
}

// look finds out who lives and takes hold of what the members have started. An
// error is about something that could not be looked at or held; the look goes on.
func (tree *heldTree) look() (failed error) {
	for _, m := range tree.members {
		if m.alive && tree.ended(m) {
			m.alive = false
			if tree.at[m.id.PID] == m {
				delete(tree.at, m.id.PID)
			}
		}
	}
	covered := map[monitor.Identity]bool{}
	for i := 0; i < len(tree.members); i++ { // which grows meanwhile
		m := tree.members[i]
		if !m.alive || covered[m.id] {
			continue
		}
		below, err := tree.system.Tree(m.id)
		if errors.Is(err, process.ErrGone) {
			continue // the next look tells
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, s := range below {
			covered[s.Identity] = true
			if m := tree.at[s.PID]; m != nil && m.id == s.Identity {
				m.suspended = s.State == process.Stopped && !m.still
				if m.rss == 0 && m.spared == nil { // of the root no Stat told
					m.rss = s.RSSBytes
				}
				continue
			}
			if err := tree.adopt(s); err != nil && !errors.Is(err, process.ErrGone) {
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
}

// adopt takes a process that was seen below a member. It is one of the tree
// only if its parent lived, as the member that we hold, when it was its parent:
// pids that are reused during the look must not bring strangers in.
func (tree *heldTree) adopt(s process.Stat) error {
	parent := tree.at[s.Parent]
	if parent == nil {
		return process.ErrGone
	}
	now, err := tree.system.Stat(s.PID)
	if err != nil {
		return err
	}
	if now.Identity != s.Identity || now.Parent != s.Parent || tree.ended(parent) {
		return process.ErrGone
	}
	return tree.take(now, parent)
}

// errBelow is why something below a spared process is spared.
var errBelow = errors.New("below a process that is spared")

func (tree *heldTree) ended(m *member) bool {
	if m.handle != nil {
		return m.handle.Ended()
	}
	alive, err := process.Alive(tree.system, m.id)
	return err == nil && !alive
}

// send sends something to members. One that has ended meanwhile does not matter; one
// that may not be signalled is left alone from then on.
func (tree *heldTree) send(to []*member, what func(process.HeldProcess) error) {
	for _, m := range to {
		if err := what(m.handle); err != nil && !errors.Is(err, process.ErrGone) {
			tree.denied = errors.Join(tree.denied, err)
			m.refused = true
		}
	}
}

// suspend suspends members and waits until they stand still. No context ends it,
// because it is over in a moment.
func (tree *heldTree) suspend(to []*member, limit time.Duration) {
	tree.send(to, process.HeldProcess.Suspend)
	until := time.Now().Add(limit)
	for _, m := range to {
		m.still = true
		for tree.moves(m) && time.Now().Before(until) {
			time.Sleep(time.Millisecond)
		}
	}
}

// moves reports whether a member may still start something.
func (tree *heldTree) moves(m *member) bool {
	s, err := tree.system.Stat(m.id.PID)
	return err == nil && s.Identity == m.id && s.State == process.Running
}

// terminate sends SIGTERM, which a suspended process takes note of only when it
// is continued.
func (tree *heldTree) terminate(to []*member) {
	tree.send(to, func(h process.HeldProcess) error {
		err := h.Terminate()
		if failed := h.Continue(); err == nil {
			err = failed
		}
		return err
	})
	for _, m := range to {
		m.still, m.suspended, m.terminated = false, false, true
	}
}

func (tree *heldTree) kill(to []*member) {
	tree.send(to, process.HeldProcess.Kill)
	for _, m := range to {
		m.killed = true
	}
}

// thaw continues whoever was suspended by us and lives: a climb that was given
// up on the way leaves nobody like that, nor does one whose signals were refused.
func (tree *heldTree) thaw() {
	for _, m := range tree.members {
		if !m.alive || !m.still {
			continue
		}
		if err := m.handle.Continue(); err != nil && !errors.Is(err, process.ErrGone) {
			tree.denied = errors.Join(tree.denied, err)
		}
	}
}

// lookEvery is how often the tree is looked at while a step waits.
const lookEvery = 100 * time.Millisecond

// wait returns when the first of what still lives has ended, or after limit.
func (tree *heldTree) wait(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, m := range tree.members {
		if m.handle != nil && m.alive {
			_ = m.handle.Wait(ctx) // whether it has ended is seen by the next look
			return
		}
	}
}

// pick returns the members that may be signalled and satisfy want.
func (tree *heldTree) pick(want func(*member) bool) []*member {
	return tree.where(func(m *member) bool { return m.reachable() && want(m) })
}

func (tree *heldTree) where(want func(*member) bool) (found []*member) {
	for _, m := range tree.members {
		if want(m) {
			found = append(found, m)
		}
	}
	return found
}

// member is the living member with an identity, nil when there is none.
func (tree *heldTree) member(id monitor.Identity) *member {
	if m := tree.at[id.PID]; m != nil && m.id == id {
		return m
	}
	return nil
}

// left are the members that live.
func (tree *heldTree) left() []*member { return tree.where(func(m *member) bool { return m.alive }) }

// each is something of each member.
func each[T any](members []*member, what func(*member) T) (list []T) {
	for _, m := range members {
		list = append(list, what(m))
	}
	return list
}

// names names members for people.
func names(members []*member) []Process {
	return each(members, func(m *member) Process { return Process{m.id.PID, m.name} })
}

// pids are those of the living members.
func (tree *heldTree) pids() []int {
	return each(tree.left(), func(m *member) int { return m.id.PID })
}

// memory is that of all members when they were taken hold of, resident, in bytes.
func (tree *heldTree) memory() (sum uint64) {
	for _, m := range tree.members {
		sum += m.rss
	}
	return sum
}

// release lets everybody go.
func (tree *heldTree) release() {
	for _, m := range tree.members {
		if m.handle != nil {
			m.handle.Close()
		}
	}
}

// longestName is how much Linux keeps of the name of a process, in bytes.
const longestName = 15

// nameOf is what to call a process: its name, or its program's where there is none, or
// where the system has cut it off; "" when nothing is known of it.
func nameOf(info process.Info) string {
	name, program := monitor.Clean(info.Name), monitor.ProgramName(info.Exe)
	if name == "" || len(name) == longestName && strings.HasPrefix(program, name) {
		return program
	}
	return name
}

// named is a process for people.
func (l *Ladder) named(pid int) Process {
	info, _ := l.o.System.Read(pid) // without a name when it is gone
	return Process{pid, nameOf(info)}
}
