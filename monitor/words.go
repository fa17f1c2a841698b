package monitor

import "fmt"

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
