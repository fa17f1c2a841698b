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

// party is the tree of an instance, held: a climb with a handle for every
// member. Spared members have none, for nothing is ever sent to them.
type party struct {
	climb
	system  process.System
	handles map[monitor.Identity]process.HeldProcess
	at      map[int]int                    // pid → index of the living member
	spare   func(pid int) (why, err error) // nil = it may be ended
	theirs  func(process.Info) bool        // is what people work in, and no part of the tree
	beside  []Process                      // such programs, which go on

	started    time.Time
	serverInfo process.Info
	rootInfo   process.Info
	denied     error // what the system said when it refused a signal
}

// hold re-checks who the server is and takes hold of its whole tree. Nothing is
// sent. The party is to be released, also if there is an error beside it.
func (l *Ladder) hold(in *monitor.Instance, o Order) (*party, error) {
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
	p, err := l.muster(in, server, root, o)
	if err == nil && root != server.Identity && (!p.lives(server.Identity) || in.Client != nil && p.lives(in.Client.Identity)) {
		// What is above the server has to be its wrapper, and never its client.
		p.release()
		l.o.Log.Warn("what seemed to be a wrapper is none; the server is ended without it", "instance", in.Label(), "pid", root.PID)
		p, err = l.muster(in, server, server.Identity, o)
	}
	if err == nil && len(p.beside) > 0 && command.IsKeeper(p.rootInfo.Exe, p.rootInfo.Args) {
		// A keeper that is ended takes all that is below it along on Windows. It
		// ends by itself, or is ended by who started it, when the server has gone.
		p.release()
		p, err = l.muster(in, server, server.Identity, o)
	}
	if errors.Is(err, process.ErrGone) {
		err = fmt.Errorf("%s has ended already: %w", in.Label(), err)
	}
	return p, err
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

// muster makes the party of a tree and looks at it until a look finds nothing
// new.
func (l *Ladder) muster(in *monitor.Instance, server process.Info, root monitor.Identity, o Order) (*party, error) {
	protect, err := l.protected(in.Kind, o)
	if err != nil {
		return nil, err
	}
	p := &party{
		climb: climb{
			limits: l.o.Limits, atOnce: atOnce, canHold: !atOnce,
			server: server.Identity, root: root,
		},
		system:     l.o.System,
		handles:    map[monitor.Identity]process.HeldProcess{},
		at:         map[int]int{},
		started:    l.now(),
		serverInfo: server,
		spare:      func(pid int) (error, error) { return l.spared(protect, pid) },
		theirs:     func(info process.Info) bool { return theirs(in.Kind, info) },
	}
	s, err := l.o.System.Stat(root.PID)
	if err != nil {
		return p, err
	}
	if p.rootInfo, err = l.o.System.Read(root.PID); err != nil {
		return p, err
	}
	if err := p.take(s, false); err != nil {
		return p, err
	}
	for looks, known := 0, 0; known < len(p.members) && looks < maxLooks; looks++ {
		known = len(p.members)
		if err := p.look(l.now()); err != nil {
			return p, err
		}
	}
	if !p.lives(root) {
		return p, fmt.Errorf("process %d: %w", root.PID, process.ErrGone)
	}
	return p, nil
}

// memory is that of all members when they were taken hold of, resident, in bytes.
func (p *party) memory() (sum uint64) {
	for i := range p.members {
		sum += p.members[i].rss
	}
	return sum
}

// take makes a process a member: spared, or held.
func (p *party) take(s process.Stat, below bool) error {
	m := member{id: s.Identity, name: nameOf(p.system, s.PID), alive: true, suspended: s.State == process.Stopped}
	why, err := p.spare(s.PID)
	if err != nil {
		return err
	}
	if why == nil && below {
		why = errBelow
	}
	if m.spared = why; why == nil {
		h, err := p.system.Hold(s.Identity)
		if err != nil {
			return err
		}
		p.handles[s.Identity] = h
		m.rss = s.RSSBytes
	}
	p.at[s.PID] = len(p.members)
	p.members = append(p.members, m)
	return nil
}

// look finds out who lives and takes hold of what the members have started. An
// error is about something that could not be looked at or held; the look goes on.
func (p *party) look(now time.Time) (failed error) {
	for i := range p.members {
		m := &p.members[i]
		if m.alive && p.ended(m) {
			m.alive = false
			if p.at[m.id.PID] == i {
				delete(p.at, m.id.PID)
			}
		}
	}
	covered := map[monitor.Identity]bool{}
	for i := 0; i < len(p.members); i++ { // which grows meanwhile
		if m := &p.members[i]; !m.alive || covered[m.id] {
			continue
		}
		tree, err := p.system.Tree(p.members[i].id)
		if errors.Is(err, process.ErrGone) {
			continue // the next look tells
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, s := range tree {
			covered[s.Identity] = true
			if at, known := p.at[s.PID]; known && p.members[at].id == s.Identity {
				m := &p.members[at]
				m.suspended = s.State == process.Stopped && !m.still
				if m.rss == 0 && m.spared == nil { // of the root no Stat told
					m.rss = s.RSSBytes
				}
				continue
			}
			if err := p.adopt(s); err != nil && !errors.Is(err, process.ErrGone) {
				failed = errors.Join(failed, err)
			}
		}
	}
	p.looked(now.Sub(p.started))
	return failed
}

// adopt takes a process that was seen below a member. It is one of the tree
// only if its parent lived, as the member that we hold, when it was its parent:
// pids that are reused during the look must not bring strangers in.
func (p *party) adopt(s process.Stat) error {
	at, ok := p.at[s.Parent]
	if !ok {
		return process.ErrGone
	}
	now, err := p.system.Stat(s.PID)
	if err != nil {
		return err
	}
	parent := &p.members[at]
	if now.Identity != s.Identity || now.Parent != s.Parent || p.ended(parent) {
		return process.ErrGone
	}
	info, err := p.system.Read(s.PID)
	if err == nil && info.Identity == s.Identity && p.theirs(info) {
		if one := (Process{s.PID, nameOf(p.system, s.PID)}); !slices.Contains(p.beside, one) {
			p.beside = append(p.beside, one)
		}
		return process.ErrGone
	}
	return p.take(now, parent.spared != nil)
}

// errBelow is why something below a spared process is spared.
var errBelow = errors.New("below a process that is spared")

func (p *party) ended(m *member) bool {
	if h := p.handles[m.id]; h != nil {
		return h.Ended()
	}
	alive, err := process.Alive(p.system, m.id)
	return err == nil && !alive
}

// send sends something to members. One that has ended meanwhile does not
// matter; one that may not be signalled is left alone from then on.
func (p *party) send(to []monitor.Identity, what func(process.HeldProcess) error) {
	for _, id := range to {
		err := what(p.handles[id])
		if err == nil || errors.Is(err, process.ErrGone) {
			continue
		}
		p.denied = errors.Join(p.denied, err)
		p.change([]monitor.Identity{id}, func(m *member) { m.refused = true })
	}
}

// freeze suspends members and waits until they stand still. No context ends it,
// because it is over in a moment.
func (p *party) freeze(to []monitor.Identity) {
	p.send(to, process.HeldProcess.Suspend)
	ctx, cancel := context.WithTimeout(context.Background(), p.freezeTime())
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for _, id := range to {
		for {
			s, err := p.system.Stat(id.PID)
			if err != nil || s.Identity != id || s.State != process.Running {
				break
			}
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
			}
			break
		}
	}
}

// terminate sends SIGTERM, which a suspended process takes note of only when it
// is continued.
func (p *party) terminate(to []monitor.Identity) {
	p.send(to, func(h process.HeldProcess) error {
		err := h.Terminate()
		if failed := h.Continue(); err == nil {
			err = failed
		}
		return err
	})
}

// thaw continues whoever was suspended by us and lives: a climb that was given
// up on the way leaves nobody like that, nor does one whose signals were refused.
func (p *party) thaw() {
	for i := range p.members {
		m := &p.members[i]
		if !m.alive || !m.still {
			continue
		}
		if err := p.handles[m.id].Continue(); err != nil && !errors.Is(err, process.ErrGone) {
			p.denied = errors.Join(p.denied, err)
		}
	}
}

func (p *party) kill(to []monitor.Identity) { p.send(to, process.HeldProcess.Kill) }

// lookEvery is how often the tree is looked at while a rung waits.
const lookEvery = 100 * time.Millisecond

// wait returns when the first of what still lives has ended, when it is time to
// look again, or at the latest after limit.
func (p *party) wait(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, min(limit, lookEvery))
	defer cancel()
	for i := range p.members {
		if h := p.handles[p.members[i].id]; h != nil && p.members[i].alive {
			_ = h.Wait(ctx) // whether it has ended is seen by the next look
			return
		}
	}
}

// left names the members that live.
func (p *party) left() []Process {
	return p.named(func(m *member) bool { return m.alive })
}

func (p *party) named(want func(*member) bool) []Process {
	var found []Process
	for i := range p.members {
		if m := &p.members[i]; want(m) {
			found = append(found, Process{m.id.PID, m.name})
		}
	}
	return found
}

// those names members by identity.
func (p *party) those(ids []monitor.Identity) []Process {
	wanted := make(map[monitor.Identity]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	return p.named(func(m *member) bool { return wanted[m.id] })
}

// pids are those of the living members.
func (p *party) pids() []int {
	var pids []int
	for _, process := range p.left() {
		pids = append(pids, process.PID)
	}
	return pids
}

// release lets everybody go.
func (p *party) release() {
	for _, h := range p.handles {
		h.Close()
	}
}

// nameOf is what to call a process, "" when it is gone.
func nameOf(s process.System, pid int) string {
	info, err := s.Read(pid)
	if err != nil {
		return ""
	}
	return wholeName(monitor.Clean(info.Name), monitor.ProgramName(info.Exe))
}

// longestName is how much Linux keeps of the name of a process, in bytes.
const longestName = 15

// wholeName is the name of a process, or its program's where there is none, or
// where the system has cut it off.
func wholeName(name, program string) string {
	if name == "" || len(name) == longestName && strings.HasPrefix(program, name) {
		return program
	}
	return name
}

func (l *Ladder) named(pid int) Process { return Process{pid, nameOf(l.o.System, pid)} }
