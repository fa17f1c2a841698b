package stop

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// climb is one Stop under way: the tree of an instance, held, and what was done to it.
// There is a handle for every member that is not spared.
type climb struct {
	*Ladder
	in     *monitor.Instance
	order  Order
	limits Limits
	atOnce bool // the system knows no gentle end (Windows), and suspends nobody
	record func(monitor.Event)
	began  time.Time
	done   []monitor.Event

	protect    map[int]error // see protected
	members    []*member     // the root first, parents before children
	at         map[int]*member
	server     *member // of an instance; of language servers nil
	serverInfo process.Info
	beside     []Process           // what people work in, which goes on
	elsewhere  []command.Elsewhere // what the members have run that is no process below them

	frozen time.Duration // how long it took until members stood still, together
	denied error         // what the system said when it refused a signal
}

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

func (l *Ladder) newClimb(in *monitor.Instance, o Order) *climb {
	c := &climb{Ladder: l, in: in, order: o, limits: l.o.Limits, atOnce: runtime.GOOS == "windows", record: l.o.Record, began: l.now()}
	if o.forced() {
		c.limits = c.limits.forced()
	}
	return c
}

// hold re-checks who the server is and takes hold of its whole tree. Nothing is
// sent.
func (c *climb) hold() error {
	label := c.in.Label()
	if c.in.Identity.PID <= 0 {
		return fmt.Errorf("%s has no process to end: %w", label, process.ErrGone)
	}
	server, err := c.o.System.Read(c.in.Identity.PID)
	if err == nil && server.Identity != c.in.Identity {
		err = fmt.Errorf("process %d is another one by now: %w", c.in.Identity.PID, process.ErrGone)
	}
	if err != nil {
		return fmt.Errorf("%s has ended already: %w", label, err)
	}
	if s, err := c.o.System.Stat(server.PID); err == nil && s.State == process.Unreaped {
		return fmt.Errorf("%s has ended already, only %s, which started it, has not taken note: %w",
			label, c.named(s.Parent), process.ErrGone)
	}
	root, kept := c.keeper(c.in)
	if !kept {
		if root, _, err = process.Climb(c.o.System, server, isLauncher); err != nil {
			c.o.Log.Warn("looking for wrappers above a server failed; it is ended without them", "instance", label, "error", err)
			root = server.Identity
		}
	}
	err = c.collect(root)
	if err == nil && root != server.Identity {
		// What is above the server has to be its wrapper, and never its client.
		noWrapper := c.member(server.Identity) == nil || c.in.Client != nil && c.member(c.in.Client.Identity) != nil
		if noWrapper {
			c.o.Log.Warn("what seemed to be a wrapper is none; the server is ended without it", "instance", label, "pid", root.PID)
		}
		// A keeper that is ended takes all that is below it along on Windows. It
		// ends by itself, or is ended by who started it, when the server has gone.
		// What cannot be read any more is left alone, whatever it is.
		top, failed := c.o.System.Read(root.PID)
		if noWrapper || failed != nil || len(c.beside) > 0 && command.IsKeeper(top.Exe, top.Args) {
			err = c.collect(server.Identity)
		}
	}
	if errors.Is(err, process.ErrGone) {
		err = fmt.Errorf("%s has ended already: %w", label, err)
	}
	c.server, c.serverInfo = c.member(server.Identity), server
	return err
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

// collect takes hold of what is at and below some roots, and of nothing else. What they
// start later joins the tree later.
func (c *climb) collect(roots ...monitor.Identity) (err error) {
	c.release()
	c.members, c.at, c.beside = nil, map[int]*member{}, nil
	if c.protect, err = c.protected(); err != nil {
		return err
	}
	for _, root := range roots {
		tree, err := c.o.System.Tree(root)
		if err == nil {
			err = c.take(tree[0], nil)
		}
		if err != nil && !errors.Is(err, process.ErrGone) {
			return err
		}
	}
	if err := c.look(); err != nil {
		return err
	}
	if len(c.left()) == 0 {
		return fmt.Errorf("process %d: %w", roots[0].PID, process.ErrGone)
	}
	return nil
}

// take makes a process a member: spared, or held. What people work in is none below
// another member.
func (c *climb) take(s process.Stat, parent *member) (err error) {
	info, _ := c.o.System.Read(s.PID) // nothing of what is gone or hidden
	name := nameOf(info)
	if parent != nil && info.Identity == s.Identity && theirs(c.in.Kind, info) {
		if one := (Process{s.PID, name}); !slices.Contains(c.beside, one) {
			c.beside = append(c.beside, one)
		}
		return process.ErrGone
	}
	m := &member{id: s.Identity, name: name, spared: c.protect[s.PID], alive: true, suspended: s.State == process.Stopped}
	if m.spared == nil {
		ours, err := c.o.System.SameUser(s.PID)
		if err != nil {
			return fmt.Errorf("finding out whose process %d is: %w", s.PID, err)
		}
		if !ours {
			m.spared = ErrOtherUser
		}
	}
	if parent != nil && parent.spared != nil {
		m.spared = cmp.Or(m.spared, errBelow)
	}
	if m.spared == nil {
		if m.handle, err = c.o.System.Hold(s.Identity); err != nil {
			return err
		}
		m.rss = s.RSSBytes
	}
	c.at[s.PID] = m
	c.members = append(c.members, m)
	return nil
}

// look finds out who lives and takes hold of what the members have started. An
// error is about something that could not be looked at or held; the look goes on.
func (c *climb) look() (failed error) {
	clear(c.at)
	for _, m := range c.members {
		if m.alive = m.alive && !c.ended(m); m.alive {
			c.at[m.id.PID] = m
		}
	}
	note := func(err error) {
		if !errors.Is(err, process.ErrGone) { // of which the next look tells
			failed = errors.Join(failed, err)
		}
	}
	covered := map[monitor.Identity]bool{}
	for i := 0; i < len(c.members); i++ { // which grows meanwhile
		m := c.members[i]
		if !m.alive || covered[m.id] {
			continue
		}
		below, err := c.o.System.Tree(m.id)
		note(err)
		for _, s := range below {
			covered[s.Identity] = true
			if m := c.member(s.Identity); m != nil {
				m.suspended = s.State == process.Stopped && !m.still
			} else {
				note(c.adopt(s))
			}
		}
	}
	return failed
}

// adopt takes a process that was seen below a member. It is one of the tree
// only if its parent lived, as the member that we hold, when it was its parent:
// pids that are reused during the look must not bring strangers in.
func (c *climb) adopt(s process.Stat) error {
	parent := c.at[s.Parent]
	if parent == nil {
		return process.ErrGone
	}
	now, err := c.o.System.Stat(s.PID)
	if err != nil {
		return err
	}
	if now.Identity != s.Identity || now.Parent != s.Parent || c.ended(parent) {
		return process.ErrGone
	}
	now.RSSBytes = s.RSSBytes // which a tree alone tells
	return c.take(now, parent)
}

// errBelow is why something below a spared process is spared.
var errBelow = errors.New("below a process that is spared")

func (c *climb) ended(m *member) bool {
	if m.handle != nil {
		return m.handle.Ended()
	}
	return !process.MayLive(c.o.System, m.id)
}

// send sends something to members. One that has ended meanwhile does not matter; one
// that may not be signalled is left alone from then on.
func (c *climb) send(to []*member, what func(process.HeldProcess) error) {
	for _, m := range to {
		if err := what(m.handle); err != nil && !errors.Is(err, process.ErrGone) {
			c.denied = errors.Join(c.denied, err)
			m.refused = true
		}
	}
}

// suspend suspends members and waits until they stand still. No context ends it,
// because it is over in a moment.
func (c *climb) suspend(to []*member, limit time.Duration) {
	c.send(to, process.HeldProcess.Suspend)
	until := time.Now().Add(limit)
	for _, m := range to {
		m.still = true
		for c.moves(m) && time.Now().Before(until) {
			time.Sleep(time.Millisecond)
		}
	}
}

// moves reports whether a member may still start something.
func (c *climb) moves(m *member) bool {
	s, err := c.o.System.Stat(m.id.PID)
	return err == nil && s.Identity == m.id && s.State == process.Running
}

// terminate sends SIGTERM, which a suspended process takes note of only when it
// is continued.
func (c *climb) terminate(to []*member) {
	c.send(to, func(h process.HeldProcess) error { return cmp.Or(h.Terminate(), h.Continue()) })
	for _, m := range to {
		m.still, m.suspended, m.terminated = false, false, true
	}
}

func (c *climb) kill(to []*member) {
	c.send(to, process.HeldProcess.Kill)
	for _, m := range to {
		m.killed = true
	}
}

// thaw continues whoever was suspended by us and lives: a climb that was given
// up on the way leaves nobody like that, nor does one whose signals were refused.
func (c *climb) thaw() {
	c.send(c.where(func(m *member) bool { return m.alive && m.still }), process.HeldProcess.Continue)
}

// pick returns the members that may be signalled and satisfy want.
func (c *climb) pick(want func(*member) bool) []*member {
	return c.where(func(m *member) bool { return m.reachable() && want(m) })
}

func (c *climb) where(want func(*member) bool) (found []*member) {
	for _, m := range c.members {
		if want(m) {
			found = append(found, m)
		}
	}
	return found
}

// member is the living member with an identity, nil when there is none.
func (c *climb) member(id monitor.Identity) *member {
	if m := c.at[id.PID]; m != nil && m.id == id {
		return m
	}
	return nil
}

// left are the members that live.
func (c *climb) left() []*member { return c.where(func(m *member) bool { return m.alive }) }

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
func (c *climb) pids() []int {
	return each(c.left(), func(m *member) int { return m.id.PID })
}

// memory is that of all members when they were taken hold of, resident, in bytes.
func (c *climb) memory() (sum uint64) {
	for _, m := range c.members {
		sum += m.rss
	}
	return sum
}

// release lets everybody go.
func (c *climb) release() {
	for _, m := range c.members {
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
