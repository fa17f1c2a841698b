package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/session"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
	"lamplighter/monitor/stop"
)

// forWorkspace is who ends servers here, in words.
const forWorkspace = "the end of its workspace"

// ourServers start and end the servers of workspaces in the background process.
// Sessions are theirs alone; of those that clients share, the ones that no client
// has are ended like any instance, unless they are at work or pinned.
type ourServers struct {
	sessions  api.SessionManager
	instances func() *monitor.Snapshot // nil: none are known
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

// End ends the sessions on a directory and below it, and the servers there that
// nobody shares any more.
func (o ourServers) End(ctx context.Context, dir string) error {
	on := onDirectory(dir)
	var left []error
	for _, s := range o.sessions.List() {
		if s.ID == 0 || !on(s.ProjectPath) {
			continue
		}
		if _, err := o.sessions.Release(ctx, s.ID, forWorkspace); err != nil && !errors.Is(err, session.ErrUnknown) {
			left = append(left, fmt.Errorf("session %d on it was not ended: %w", s.ID, err))
		}
	}
	if o.instances == nil {
		return errors.Join(left...)
	}
	for _, in := range unshared(o.instances(), on) {
		result, err := o.stop.Stop(ctx, in, stop.Order{By: "for " + forWorkspace})
		if err != nil && result.Outcome != stop.Gone {
			left = append(left, fmt.Errorf("%s (pid %d) on it was not ended: %w", in.Label(), in.Identity.PID, err))
		}
	}
	return errors.Join(left...)
}

// theirServers are ourServers from another process than the background one.
type theirServers struct{ socket string }

var _ workspace.Servers = theirServers{}

// Start asks the background process for a session. The error Is
// workspace.ErrNoServer.
func (t theirServers) Start(ctx context.Context, dir string) (workspace.Server, error) {
	client, _, err := api.Dial(ctx, t.socket)
	if errors.Is(err, api.ErrUnreachable) {
		return workspace.Server{}, noServer(fmt.Errorf("%w; start lamplighter, which runs them, and ask for one with `lamplighter session request`", err))
	}
	if err != nil {
		return workspace.Server{}, noServer(err)
	}
	defer client.Close()
	given, err := client.RequestSession(ctx, api.SessionOrder{ProjectPath: dir}, requestTime)
	if err != nil {
		return workspace.Server{}, noServer(err)
	}
	s, err := sessionOf(ctx, client, given)
	if err != nil {
		return workspace.Server{}, noServer(takeBack(ctx, client, given.SessionID, err))
	}
	server := workspace.Server{SessionID: given.SessionID, MCPURL: *s.MCPURL}
	if s.DashboardURL != nil {
		server.DashboardPort = portOf(*s.DashboardURL)
	}
	return server, nil
}

// End has the background process do it. Where it does not run there are no
// sessions; what it has left behind it cannot end.
func (t theirServers) End(ctx context.Context, dir string) error {
	client, _, err := api.Dial(ctx, t.socket)
	if errors.Is(err, api.ErrUnreachable) {
		return nil
	}
	if err != nil {
		return err
	}
	defer client.Close()
	on := onDirectory(dir)
	list, err := client.Sessions(ctx)
	if err != nil {
		return err
	}
	var left []error
	for _, s := range list.Sessions {
		if s.SessionID == nil || !on(s.ProjectPath) {
			continue
		}
		if _, err := client.ReleaseSession(ctx, *s.SessionID); err != nil && !errors.Is(err, api.ErrNoSession) {
			left = append(left, fmt.Errorf("session %d on it was not ended: %w", *s.SessionID, err))
		}
	}
	wire, err := client.Instances(ctx)
	if err != nil {
		return errors.Join(append(left, err)...)
	}
	for _, in := range unshared(api.Decode(wire, time.Now()), on) {
		killed, err := client.Kill(ctx, in.ID(), api.KillOrder{})
		if err == nil && killed.Outcome != stop.Ended && killed.Outcome != stop.Gone {
			err = errors.New(killed.Error)
		}
		if err != nil {
			left = append(left, fmt.Errorf("%s (pid %d) on it was not ended: %w", in.Label(), in.Identity.PID, err))
		}
	}
	return errors.Join(left...)
}

func noServer(err error) error { return fmt.Errorf("%w: %w", workspace.ErrNoServer, err) }

// unshared are the shared servers that run on a directory and that no client has.
func unshared(s *monitor.Snapshot, on func(path string) bool) []monitor.Instance {
	var list []monitor.Instance
	if s == nil {
		return nil
	}
	for _, in := range s.Instances {
		if in.State != monitor.StateParked && in.IsShared() && len(in.Sharing.Clients) == 0 && on(in.ProjectRoot) {
			list = append(list, in)
		}
	}
	return list
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

func portOf(address string) int {
	u, err := url.Parse(address)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}
