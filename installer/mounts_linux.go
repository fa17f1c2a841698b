package installer

import "os"

// mountTable is proc_pid_mountinfo(5) of this process; "" where it cannot be read.
func mountTable() string {
	table, _ := os.ReadFile("/proc/self/mountinfo") // without /proc nothing is known of mounts
	return string(table)
}
