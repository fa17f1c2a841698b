package ask

import (
	"bytes"
	"encoding/binary"
)

// The layout of a record of utmp. Source: utmp(5), bits/utmp.h of glibc.
const (
	utmpUser    = 44
	utmpUserEnd = utmpUser + 32
	userProcess = 7
)

// utmpSize is how long a record is: some processors have a longer time in it.
func utmpSize(goarch string) int {
	switch goarch {
	case "arm64", "riscv64", "loong64":
		return 400
	}
	return 384
}

// parseUtmp returns the users of utmp who are logged in, but root, who can do
// everything anyway. What is cut off at the end is no record.
func parseUtmp(data []byte, size int) []string {
	var users []string
	for ; len(data) >= size; data = data[size:] {
		if binary.NativeEndian.Uint16(data) != userProcess {
			continue
		}
		name, _, _ := bytes.Cut(data[utmpUser:utmpUserEnd], []byte{0})
		if len(name) > 0 && string(name) != "root" {
			users = append(users, string(name))
		}
	}
	return users
}
