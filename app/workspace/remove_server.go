package workspace

import (
	"net/url"
	"slices"
	"strconv"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// withoutServer leaves the processes of a server out of those that work inside:
// it would be ended first. They are the one that listens on the server's port,
// what it has started, and the launchers that it was started through. What cannot
// be found out stays in.
func withoutServer(users []User, server Server) []User {
	at, err := url.Parse(server.MCPURL)
	if err != nil {
		return users
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		return users
	}
	var pids []int
	for _, u := range users {
		pids = append(pids, u.PID)
	}
	listeners, err := process.NewPorts().Listeners(pids)
	if err != nil {
		return users
	}
	drop := map[int]bool{}
	for _, l := range listeners {
		if int(l.Addr.Port()) != port {
			continue
		}
		drop[l.PID] = true
		above, _ := process.Ancestors(l.PID)
		for _, id := range above {
			if !slices.Contains(pids, id.PID) {
				break
			}
			drop[id.PID] = true
		}
		if now, err := process.ReadStat(l.PID); err == nil {
			below, _ := process.Tree(monitor.Identity(now.Identity))
			for _, s := range below {
				drop[s.PID] = true
			}
		}
	}
	return slices.DeleteFunc(users, func(u User) bool { return drop[u.PID] })
}
