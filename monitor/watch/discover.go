package watch

import (
	"hash/fnv"
	"path/filepath"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/secret"
	"lamplighter/monitor/serena"
)

// recognise tells what kind of server a process is, by executable and
// arguments.
func recognise(r Rules, p process.Info) (kind string, cmd serena.Command, ok bool) {
	if cmd, ok := serena.ParseCommand(p.Exe, p.Args); ok {
		return monitor.KindSerena, cmd, true
	}
	if name, ok := r.Match(p.Exe, p.Args); ok {
		return name, serena.Command{}, true
	}
	return "", serena.Command{}, false
}

// discover takes in processes that are new or have become another program.
func (l *loop) discover(fresh []process.Info, now time.Time) {
	for _, p := range fresh {
		kind, cmd, ok := recognise(l.o.Rules, p)
		if t, known := l.tracked[p.Identity]; known {
			if l.goesOn(t, p, kind, ok) {
				continue
			}
			l.untrack(t) // it has replaced its program by another, or is known by now
		}
		if !ok {
			l.removeMember(p.Identity)
			if !l.trackRemembered(p, now) && l.mayBeChild(p) {
				l.addChild(p, now)
			}
			continue
		}
		t := l.newTracked(p, kind, cmd, now)
		if whole := l.findWhole(t); whole != nil {
			whole.addMembers(t)
		} else {
			l.track(t, p, now)
			l.absorbParts(t) // a child may have been listed before its parent
		}
	}
}

// goesOn reports whether a server that is known goes on as that with the program which its
// process runs now, of a kind if rules know it, and takes note of it.
func (l *loop) goesOn(t *tracked, p process.Info, kind string, byRules bool) bool {
	hidden := l.o.Rules.Hides(p.Exe, p.Args)
	switch {
	case t.isLaunched():
		t.ruleKind = kind // and what it is called stays: it is ours by our own word
	case byRules && t.in.Recognised && t.isSerena() == (kind == monitor.KindSerena):
		t.ruleKind, t.in.Kind = kind, kind // by the rules of today
	case byRules:
		return false
	case p.Exe != "" && t.in.Certainty() == monitor.ByEntry && command.Is(monitor.ProgramName(t.in.Entry.Program), command.Starter) && l.mayBeChild(p) && !rules.NeverServes(p):
		entry := *t.in.Entry // whose script has become what it starts
		entry.Program = p.Exe
		t.in.Entry, t.in.Command, t.in.Sum = &entry, shownCommand(p), hashArguments(p.Args)
	case !t.in.Recognised: // nobody knew it before either
		return t.in.Sum == hashArguments(p.Args) && !(t.in.OnPipes && hidden)
	default: // its entry goes on to tell
		return t.in.ProvenByEntry(p.Exe) && !hidden
	}
	return true
}

// track follows an instance from now on.
func (l *loop) track(t *tracked, p process.Info, now time.Time) *tracked {
	t.OneLook = l.exits == nil
	if started, err := l.o.System.Started(p.Identity); err == nil {
		t.in.StartedAt = started
		t.Born = now.Add(-max(now.Sub(started), 0))
	}
	t.in.Directory, _ = l.o.System.Ends(p.Identity).Directory() // "" when it is not told
	l.findAncestors(t, p)
	l.restore(t)
	l.tracked[p.Identity] = t
	if t.in.Client != nil && l.children[p.Identity] == nil {
		l.addChild(p, now)
	}
	return t
}

// setRules judges all processes by other rules.
func (l *loop) setRules(r Rules, now time.Time) {
	l.o.Rules = r
	l.scan = l.o.System.Scan() // whose first pass returns every process
	fresh, _ := l.scan()       // what cannot be listed now, the next one returns
	l.discover(fresh, now)
}

// shownCommand is what a process runs, for people. Who looks at a list of servers does not
// expect to see what stands in somebody's settings.
func shownCommand(p process.Info) string {
	own := command.Parse(p.Exe, p.Args).Args
	front := p.Args[:max(len(p.Args)-len(own), min(len(p.Args), 1))]
	words := append(secret.Words(front), secret.Arguments(p.Args[len(front):])...)
	return monitor.Shorten(monitor.Quoted(words), maxCommand)
}

// hashArguments tells command lines apart.
func hashArguments(args []string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(args, "\x00")))
	return h.Sum64()
}

// maxCommand is how much of a command is shown, in columns.
const maxCommand = 300

func (l *loop) newTracked(p process.Info, kind string, cmd serena.Command, now time.Time) *tracked {
	t := &tracked{
		ruleKind: kind, cmd: cmd, limits: l.o.limits, firstSeen: now, health: health{next: -1},
		Facts: monitor.Facts{Born: now}, lineage: lineage{root: p.Identity, parent: l.parentOf(p), members: []monitor.Identity{p.Identity}},
		in: monitor.Instance{
			Identity: p.Identity, Kind: kind, Recognised: true, Processes: 1,
			ProjectName: cmd.ProjectName(), Context: cmd.Context, Modes: cmd.Modes,
			Command: shownCommand(p), Sum: hashArguments(p.Args),
		},
	}
	if filepath.IsAbs(cmd.Project) {
		t.in.ProjectRoot = cmd.Project
	}
	return t
}
