package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/session"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// forWorkspace is who ends servers here, in words.
const forWorkspace = "the end of its workspace"

// ourServers start and end the servers of workspaces in the background process.
// Sessions are theirs alone; of those that clients share, the ones that no client
// has are ended like any instance, unless they are at work or pinned.
type ourServers struct {
	sessions  api.SessionManager
	instances func() *monitor.Snapshot
	stop      api.Stopper
}

var _ workspace.Servers = ourServers{}

// Start starts a session. The error Is workspace.ErrNoServer.
func (o ourServers) Start(ctx context.Context, dir string) (workspace.Server, error) {
	s, err := o.sessions.Request(ctx, session.Request{ProjectPath: dir})
	if err != nil {
		return workspace.Server{}, noServer(err)
	}
	return workspace.Server{SessionID: s.ID, MCPURL: s.MCPURL, DashboardPort: s.DashboardPort}, nil
}

// On tells of the sessions and the shared servers on a directory and below it.
func (o ourServers) On(_ context.Context, dir string, own int) (workspace.Started, error) {
	return o.on(dir, own).started, nil
}

func (o ourServers) on(dir string, own int) serversOn {
	return judgeServers(o.sessions.List(), view.All(o.instances()), dir, own)
}

// End ends the idle ones of them.
func (o ourServers) End(ctx context.Context, dir string, own int) error {
	found := o.on(dir, own)
	var left []error
	for _, id := range found.sessions {
		if _, err := o.sessions.Release(ctx, id, forWorkspace); err != nil && !errors.Is(err, session.ErrUnknown) {
			left = append(left, fmt.Errorf("session %d on it was not ended: %w", id, err))
		}
	}
	for _, s := range found.shared {
		id, _ := monitor.ParseIdentity(string(s.ID))
		in := o.instances().Instance(id)
		if in == nil {
			continue // it has ended
		}
		result, err := o.stop.Stop(ctx, *in, stop.Order{By: "for " + forWorkspace})
		if err != nil && result.Outcome != stop.Gone {
			left = append(left, fmt.Errorf("%s on it was not ended: %w", s.Label, err))
		}
	}
	return errors.Join(left...)
}

// TheirServers are ourServers from another process than the background one.
type TheirServers struct{ Socket string }

var _ workspace.Servers = TheirServers{}

// Start asks the background process for a session. The error Is
// workspace.ErrNoServer.
func (t TheirServers) Start(ctx context.Context, dir string) (workspace.Server, error) {
	client, _, err := api.Dial(ctx, t.Socket)
	if errors.Is(err, api.ErrUnreachable) {
		return workspace.Server{}, noServer(fmt.Errorf("%w; start lamplighter, which runs them, and ask for one with `lamplighter session request`", err))
	}
	if err != nil {
		return workspace.Server{}, noServer(err)
	}
	defer client.Close()
	given, err := client.RequestSession(ctx, api.SessionOrder{ProjectPath: dir}, RequestTime)
	if err != nil {
		return workspace.Server{}, noServer(err)
	}
	s, err := SessionOf(ctx, client, given)
	if err != nil {
		return workspace.Server{}, noServer(TakeBackSession(ctx, client, given.SessionID, err))
	}
	server := workspace.Server{SessionID: given.SessionID, MCPURL: *s.MCPURL}
	if s.DashboardURL != nil {
		server.DashboardPort = monitor.PortOf(*s.DashboardURL)
	}
	return server, nil
}

// On asks the background process. Where it does not run there are no sessions;
// what it has left behind it cannot end.
func (t TheirServers) On(ctx context.Context, dir string, own int) (workspace.Started, error) {
	client, _, err := api.Dial(ctx, t.Socket)
	if errors.Is(err, api.ErrUnreachable) {
		return workspace.Started{}, nil
	}
	if err != nil {
		return workspace.Started{}, err
	}
	defer client.Close()
	found, err := theirServersOn(ctx, client, dir, own)
	return found.started, err
}

func theirServersOn(ctx context.Context, client *api.Client, dir string, own int) (serversOn, error) {
	list, err := client.Sessions(ctx)
	if err != nil {
		return serversOn{}, err
	}
	wire, err := client.Instances(ctx)
	if err != nil {
		return serversOn{}, err
	}
	var sessions []session.Session
	for _, s := range list.Sessions {
		one := session.Session{ID: view.Value(s.SessionID), State: s.State, ProjectPath: s.ProjectPath}
		if s.AskedBy != nil {
			one.AskedBy = &monitor.Client{Identity: monitor.Identity{PID: s.AskedBy.PID}, Name: s.AskedBy.Name}
		}
		sessions = append(sessions, one)
	}
	return judgeServers(sessions, wire.Instances, dir, own), nil
}

// End has the background process end the idle ones of them.
func (t TheirServers) End(ctx context.Context, dir string, own int) error {
	client, _, err := api.Dial(ctx, t.Socket)
	if errors.Is(err, api.ErrUnreachable) {
		return nil
	}
	if err != nil {
		return err
	}
	defer client.Close()
	found, err := theirServersOn(ctx, client, dir, own)
	if err != nil {
		return err
	}
	var left []error
	for _, id := range found.sessions {
		if _, err := client.ReleaseSession(ctx, id); err != nil && !errors.Is(err, api.ErrNoSession) {
			left = append(left, fmt.Errorf("session %d on it was not ended: %w", id, err))
		}
	}
	for _, s := range found.shared {
		killed, err := client.Kill(ctx, string(s.ID), api.KillOrder{})
		if err == nil && killed.Outcome != stop.Ended && killed.Outcome != stop.Gone {
			err = errors.New(killed.Error)
		}
		if err != nil {
			left = append(left, fmt.Errorf("%s on it was not ended: %w", s.Label, err))
		}
	}
	return errors.Join(left...)
}

func noServer(err error) error { return fmt.Errorf("%w: %w", workspace.ErrNoServer, err) }

// serversOn is what there is on a directory, and what of it can be ended.
type serversOn struct {
	started  workspace.Started
	sessions []int
	shared   []*view.Server
}

// judgeServers tells which servers on a directory nobody needs any more: the
// session of its workspace, own, or all with AnySession, those for which whoever
// asked has gone, and shared servers without a client. Of who asked the Start may not be
// known.
func judgeServers(sessions []session.Session, servers []*view.Server, dir string, own int) serversOn {
	var found serversOn
	on := onDirectory(dir)
	for _, s := range sessions {
		if !on(s.ProjectPath) {
			continue
		}
		asker := view.Value(s.AskedBy)
		mine := own == workspace.AnySession || s.ID == own
		switch {
		case s.ID == 0:
			found.started.Used = append(found.started.Used, workspace.User{PID: asker.PID, Name: cmp.Or(asker.Name, "somebody"), How: "has asked for a server on it, which starts"})
		case mine, s.State == session.StateEnding, asker.PID > 0 && hasGone(asker.Identity):
			found.sessions = append(found.sessions, s.ID)
			found.started.Idle = append(found.started.Idle, s.ID)
		default:
			how := fmt.Sprintf("is a session that %s has asked for; `lamplighter session release %d` ends it", cmp.Or(asker.Name, "somebody"), s.ID)
			found.started.Used = append(found.started.Used, workspace.User{PID: s.ID, Name: "a server", How: how})
		}
	}
	for _, s := range servers {
		if s.State == monitor.StateParked || s.SharedBy == nil || !on(view.Value(s.ProjectRoot)) {
			continue
		}
		if len(s.Clients) == 0 {
			found.shared = append(found.shared, s)
			found.started.Idle = append(found.started.Idle, view.Value(s.PID))
			continue
		}
		how := "is shared by " + cmp.Or(s.Clients[0].Name, "a client")
		found.started.Used = append(found.started.Used, workspace.User{PID: view.Value(s.PID), Name: s.Label, How: how})
	}
	return found
}

// hasGone reports whether a process has ended for sure. Without a Start it is
// whatever process has that pid.
func hasGone(id monitor.Identity) bool {
	now, err := process.ReadStat(id.PID)
	return errors.Is(err, process.ErrGone) || err == nil && id.Start != 0 && now.Identity != id
}

// onDirectory tells of paths whether they are a directory or below it, whether
// with the links of its path or without.
func onDirectory(dir string) func(path string) bool {
	dirs := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dirs[0] {
		dirs = append(dirs, real)
	}
	return func(path string) bool {
		if path == "" {
			return false
		}
		for _, dir := range dirs {
			if below, err := filepath.Rel(dir, path); err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator)) {
				return true
			}
		}
		return false
	}
}

// RequestTime is how long a session is waited for: the longest time that the
// settings give a server, and what others take that come before it.
const RequestTime = 6 * time.Minute

// TakeBackSession releases a session that nobody was told of, and returns why that is
// so and what came of it.
func TakeBackSession(ctx context.Context, client *api.Client, id int, why error) error {
	if ctx.Err() != nil {
		why = errors.New("interrupted")
	}
	released, err := client.ReleaseSession(context.WithoutCancel(ctx), id)
	switch {
	case err != nil && !errors.Is(err, api.ErrNoSession):
		return fmt.Errorf("%w; session %d was not ended (%w): try lamplighter session release %d", why, id, err, id)
	case released.Status == session.Terminated:
		return fmt.Errorf("%w; the server is ended again", why)
	}
	return why
}

// SessionOf is what the background process knows of a session that it gave.
func SessionOf(ctx context.Context, client *api.Client, given api.SessionGiven) (api.Session, error) {
	list, err := client.Sessions(ctx)
	if err != nil {
		return api.Session{}, err
	}
	i := slices.IndexFunc(list.Sessions, func(s api.Session) bool {
		return s.SessionID != nil && *s.SessionID == given.SessionID && s.MCPURL != nil
	})
	if i < 0 {
		return api.Session{}, fmt.Errorf("session %d has ended as soon as it was ready; lamplighter events tells more", given.SessionID)
	}
	return list.Sessions[i], nil
}
