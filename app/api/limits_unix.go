//go:build unix

package api

import "golang.org/x/sys/unix"

// systemLimits go by the limit in force, which Go raises as far as it may.
func systemLimits() limits {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return limitsOf(256) // the least that systems give by default
	}
	return limitsOf(uint64(r.Cur))
}
