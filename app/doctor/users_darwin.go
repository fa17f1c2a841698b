package doctor

import (
	"context"
	"os/user"

	"github.com/shirou/gopsutil/v3/host"
)

// otherUsers are the people other than us who are logged in.
func otherUsers(ctx context.Context) ([]string, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	list, err := host.UsersWithContext(ctx)
	var names []string
	for _, u := range list {
		if u.User != me.Username {
			names = append(names, u.User)
		}
	}
	return names, err
}
