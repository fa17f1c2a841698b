package config

import "golang.org/x/sys/windows"

// pipeName is the control pipe of this user. Pipes share one name space on the
// machine, so the user's SID is part of it.
func pipeName() string {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return `\\.\pipe\lamplighter-control`
	}
	return `\\.\pipe\lamplighter-control-` + user.User.Sid.String()
}
