package main

import "golang.org/x/sys/windows"

// usualSocket is the pipe of this user.
func usualSocket() string {
	const name = `\\.\pipe\lamplighter-share`
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return name
	}
	return name + "-" + user.User.Sid.String()
}
