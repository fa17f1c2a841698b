package monitor

import (
	"fmt"
	"strconv"
)

// Memory tells an amount of memory, given in bytes, in MB, from 1 GB on in GB.
// Both are powers of ten, as on desktops.
func Memory(bytes uint64) string {
	const megabyte = 1_000_000
	mb := bytes / megabyte
	if bytes%megabyte >= megabyte/2 {
		mb++
	}
	if mb < 1000 {
		return fmt.Sprintf("%d MB", mb)
	}
	return fmt.Sprintf("%.1f GB", float64(mb)/1000)
}

// Plural counts things: "1 server", "5 servers".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
