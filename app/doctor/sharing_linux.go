package doctor

import (
	"os"
	"strconv"
	"strings"
)

// listened reports whether somebody listens at the path of a Unix socket, without
// connecting to it, and whether that is known.
func listened(path string) (listens, known bool) {
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return false, false
	}
	return listensIn(string(table), path), true
}

// listensIn looks for a listening socket in the kernel's table.
//
// Source: net/unix/af_unix.c of Linux: "Num RefCount Protocol Flags Type St Inode
// Path", of which Flags has __SO_ACCEPTCON for one that listens.
func listensIn(table, path string) bool {
	const acceptsConnections = 1 << 16
	for line := range strings.Lines(table) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 7)
		if len(fields) < 7 {
			continue
		}
		// The inode is padded with spaces.
		_, at, bound := strings.Cut(strings.TrimLeft(fields[6], " "), " ")
		flags, err := strconv.ParseUint(fields[3], 16, 64)
		if err == nil && flags&acceptsConnections != 0 && bound && at == path {
			return true
		}
	}
	return false
}
