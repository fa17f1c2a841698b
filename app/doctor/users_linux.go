package doctor

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// People have user ids in this range on today's distributions; what lies below
// is the system's, what lies above belongs to containers and services.
//
// Source: systemd.io/UIDS-GIDS.
const (
	firstPerson = 1000
	lastPerson  = 60000
)

// otherUsers are the people other than us who have a process: who is logged in
// has one, and so has whoever left something running.
func otherUsers(ctx context.Context) ([]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	found := map[int]bool{}
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it has ended
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			found[int(stat.Uid)] = true
		}
	}
	var names []string
	for uid := range found {
		if uid == os.Getuid() || uid < firstPerson || uid > lastPerson {
			continue
		}
		name := "user id " + strconv.Itoa(uid)
		if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
			name = u.Username
		}
		names = append(names, name)
	}
	return names, nil
}
