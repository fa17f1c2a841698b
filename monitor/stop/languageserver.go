package stop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// ErrNoLanguageServer says that a server runs none.
var ErrNoLanguageServer = errors.New("no language server runs below it")

// EndLanguageServers ends the language servers of a Serena, each with its whole tree,
// and nothing else: what the server itself has started as the leader of a session, as
// all of its versions do with language servers and with nothing else. They are killed,
// because one that hangs does not listen. It returns in
// words who was ended.
func (l *Ladder) EndLanguageServers(ctx context.Context, in monitor.Instance, o Order) (ended string, err error) {
	if in.Kind != monitor.KindSerena || !in.Recognised {
		return "", fmt.Errorf("%s is not known to be a Serena", in.Label())
	}
	roots, err := l.languageServers(in.Identity)
	switch {
	case err != nil:
		return "", err
	case len(roots) == 0:
		return "", ErrNoLanguageServer
	}
	if err := l.runsShell(ctx, &in); err != nil {
		return "", err
	}
	c := l.newClimb(&in, o)
	c.record = func(monitor.Event) {} // who has ordered it tells of it as a whole
	defer c.release()
	err = c.collect(roots...)
	// They are held by now: whose children they are cannot change to another server.
	if err == nil && !process.Lives(l.o.System, in.Identity) || errors.Is(err, process.ErrGone) {
		err = ErrNoLanguageServer
	}
	if err != nil {
		return "", err
	}
	c.run(ctx, []step{c.killing()})
	ended = list(names(c.where(func(m *member) bool { return !m.alive })))
	if left := names(c.left()); len(left) > 0 {
		return ended, fmt.Errorf("%w: %s still there", ErrSurvived, these(left))
	}
	return ended, ctx.Err()
}

// runsShell is an error while a server runs a command of its client, which may lead a
// session as well, or does not say whether it does.
func (l *Ladder) runsShell(ctx context.Context, in *monitor.Instance) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.Limits.Answer)
	defer cancel()
	tasks, err := l.o.Dashboards.Queue(ctx, in.Port)
	if err != nil {
		return fmt.Errorf("what it is at is not known: %w", err)
	}
	for _, task := range tasks {
		if task.IsRunning && strings.HasSuffix(task.Name, ":ExecuteShellCommandTool") {
			return errors.New("it runs a command of its client; wait until that is done")
		}
	}
	return nil
}

// languageServers are those that a server has started and that live.
func (l *Ladder) languageServers(server monitor.Identity) ([]monitor.Identity, error) {
	tree, err := l.o.System.Tree(server)
	if err != nil {
		return nil, err
	}
	var roots []monitor.Identity
	for _, s := range tree {
		if s.Parent == server.PID && s.Session < 0 {
			return nil, fmt.Errorf("whether process %d leads a session: %w", s.PID, errors.ErrUnsupported)
		}
		if s.Parent == server.PID && s.Session == s.PID && s.State != process.Unreaped {
			roots = append(roots, s.Identity)
		}
	}
	return roots, nil
}
