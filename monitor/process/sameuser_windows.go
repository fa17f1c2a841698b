package process

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// SameUser tells whether a process runs as our user: the user of its token is
// that of ours. The error is fs.ErrPermission when we may not ask, which is so
// for most processes of others.
func SameUser(pid int) (bool, error) {
	p, err := open(pid)
	if err != nil {
		return false, err
	}
	defer p.close()
	sid, err := p.sid()
	if err != nil {
		return false, err
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return false, fmt.Errorf("looking for our own user: %w", err)
	}
	return sid.Equals(me.User.Sid), nil
}
