package process

import (
	"bytes"
	"fmt"
	"math"
	"os"
)

// SameUser tells whether a process runs as our user and nobody else: its real,
// effective and saved user are ours. A program that has taken on another user's
// rights, or kept the way back to them, is not ours.
//
// Source: the line Uid of /proc/PID/status, proc(5).
func SameUser(pid int) (bool, error) { return system().sameUser(pid) }

func (p procfs) sameUser(pid int) (bool, error) {
	buf := make([]byte, 8<<10)
	b, err := readWhole(p.path(pid, "/status"), &buf)
	if err != nil {
		return false, p.failed("looking for the user of", pid, err)
	}
	users, ok := parseUsers(b)
	if !ok {
		return false, fmt.Errorf("looking for the user of process %d: its status does not say", pid)
	}
	return users == [3]uint32{uint32(os.Getuid()), uint32(os.Getuid()), uint32(os.Getuid())}, nil
}

// parseUsers reads the real, effective and saved user out of
// /proc/PID/status. The line before it that may hold foreign text, Name, has
// its newlines escaped.
func parseUsers(b []byte) (users [3]uint32, ok bool) {
	for line := range bytes.Lines(b) {
		rest, ok := bytes.CutPrefix(line, []byte("Uid:"))
		if !ok {
			continue
		}
		fields := bytes.Fields(rest)
		if len(fields) != 4 {
			return users, false
		}
		for i := range users {
			n, ok := number(fields[i])
			if !ok || n > math.MaxUint32 {
				return users, false
			}
			users[i] = uint32(n)
		}
		return users, true
	}
	return users, false
}
