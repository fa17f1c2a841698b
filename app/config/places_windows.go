package config

import "golang.org/x/sys/windows"

// pipeName is a pipe of this user. Pipes share one name space on the machine, so
// the user's SID is part of it.
func pipeName(purpose string) string {
	name := `\\.\pipe\lamplighter-` + purpose
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return name
	}
	return name + "-" + user.User.Sid.String()
}
