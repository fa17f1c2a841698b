package watch

import (
	"cmp"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// launcherTime is how long a launcher that a client has started gets until what it
// starts is found: a package may have to be downloaded first.
const launcherTime = 10 * time.Second

// takeInAlone makes instances of the servers that clients have for themselves
// through us and that no rule knows: their shims say which processes they are. An
// instance stays until its process ends, also when its client has gone before.
func (l *loop) takeInAlone(now time.Time) {
	for i := range l.shared {
		s := &l.shared[i]
		if s.Alone == "" || s.Server.PID <= 0 || s.Server == l.self {
			continue
		}
		t := l.tracked[s.Server]
		if (t == nil || t.isAlone()) && l.knownBelow(s.Server) {
			if t != nil { // the launcher of that: nothing has ended
				l.move(s.Server, monitor.Identity{})
				l.drop(s.Server)
			}
			continue
		}
		if t == nil {
			l.beginAlone(s, now)
		}
	}
}

// isAlone reports whether no rule knows t, and the shim of a client runs it.
func (t *tracked) isAlone() bool { return t.in.Sharing != nil }

// knownBelow reports whether a process is, or is above, a server that is known
// otherwise.
func (l *loop) knownBelow(id monitor.Identity) bool {
	for _, t := range l.tracked {
		if !t.isAlone() && l.isBelow(t, id) {
			return true
		}
	}
	return false
}

// beginAlone tracks the server that a client has for itself, when it is what its
// shim says.
func (l *loop) beginAlone(s *monitor.Shared, now time.Time) {
	info, err := l.o.System.Read(s.Server.PID)
	if err != nil || info.Identity != s.Server {
		return // it has ended meanwhile
	}
	if mine, err := l.o.System.SameUser(info.PID); err != nil || !mine {
		return
	}
	if _, _, ok := recognise(l.o.Rules, info); ok {
		l.discover([]process.Info{info}, now)
		return
	}
	if command.IsLauncher(info.Exe, info.Args) && now.Sub(s.Since) < launcherTime || !l.isClientAbove(s) {
		return
	}
	kind := cmp.Or(s.Kind, monitor.ProgramName(info.Exe), monitor.ProgramName(info.Name))
	t := newTracked(info, kind, serena.Command{Args: info.Args}, now)
	t.kind, t.in.Recognised = "", false
	t.in.Sharing = &monitor.Sharing{Alone: s.Alone} // also when its client has gone
	l.begin(t, info, now)
}

// isClientAbove reports whether a server is below the client that is said to have
// it. Nothing else is taken for a server on the word of a client.
func (l *loop) isClientAbove(s *monitor.Shared) bool {
	if len(s.Clients) == 0 || s.Clients[0].PID <= 0 {
		return true // nobody knows who it is
	}
	above, err := process.Above(l.o.System, s.Server.PID)
	return err == nil && slices.Contains(above, s.Clients[0].Identity)
}
