package workspace

import (
	"context"
	"slices"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// vacate says who works in a workspace besides servers of ours that nobody needs.
// When that is nobody those are ended, except in a dry run, and it is looked again.
// The caller holds the lock, and writes the record.
func (m *Manager) vacate(ctx context.Context, r *record, dry bool) ([]User, error) {
	users, err := m.inside(ctx, r, r.Path)
	if err != nil || m.o.Servers == nil || r.State != Ready {
		return users, err
	}
	own := 0
	if r.Server != nil {
		own = r.Server.SessionID
	}
	started, err := m.o.Servers.On(ctx, r.Path, own)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil { // their processes tell
		m.o.Log.Info("asking for the servers of a workspace", "workspace", r.Name, "error", err)
		return users, nil
	}
	users, err = besidesIdle(started, func() ([]User, error) { return m.inside(ctx, r, r.Path) })
	if err != nil || len(users) > 0 || dry {
		return users, err
	}
	if len(started.Idle) > 0 {
		err := m.o.Servers.End(ctx, r.Path, own)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return []User{{PID: started.Idle[0], Name: "its server", How: "was not ended: " + monitor.Clean(err.Error())}}, nil
		}
	}
	r.Server = nil
	return m.inside(ctx, r, r.Path)
}

// idleLooks is how often it is looked who works inside besides idle servers. These
// start programs that may have ended before it is asked whose they are.
const idleLooks = 3

// besidesIdle are the processes that look finds, without those of servers that would
// be ended.
func besidesIdle(started Started, look func() ([]User, error)) ([]User, error) {
	for try := 1; ; try++ {
		users, err := look()
		if err != nil {
			return nil, err
		}
		if users = withoutIdle(users, started, branch); len(users) == 0 || len(started.Idle) == 0 || try == idleLooks {
			return users, nil
		}
	}
}

// withoutIdle are the processes that work inside without those of servers that would
// be ended, and with those of the others. Of a server are its process, what it has
// started, and what it was started through as far as that works inside too: branch
// tells those of one, and is given who works inside. What cannot be found out stays
// in.
func withoutIdle(users []User, started Started, branch func(pid int, inside []int) []int) []User {
	var pids []int
	for _, u := range users {
		pids = append(pids, u.PID)
	}
	drop := map[int]bool{}
	for _, server := range started.Idle {
		for _, pid := range branch(server, pids) {
			drop[pid] = true
		}
	}
	left := []User{}
	for _, u := range started.Used {
		left = append(left, User{PID: u.PID, Name: monitor.Clean(u.Name), How: monitor.Clean(u.How)})
	}
	for _, u := range users {
		if !drop[u.PID] && !slices.ContainsFunc(left, func(l User) bool { return l.PID == u.PID }) {
			left = append(left, u)
		}
	}
	return left
}

// branch are a process, those right above it that work inside, and all below the
// topmost of them.
func branch(pid int, inside []int) []int {
	list := []int{pid}
	above, _ := process.Above(process.Local(), pid)
	for _, id := range above {
		if !slices.Contains(inside, id.PID) {
			break
		}
		list = append(list, id.PID)
	}
	top, err := process.ReadStat(list[len(list)-1])
	if err != nil {
		return list
	}
	below, _ := process.Tree(top.Identity)
	for _, s := range below {
		list = append(list, s.PID)
	}
	return list
}
