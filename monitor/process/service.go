package process

import (
	"strconv"
	"strings"
)

// parseLaunchctl reads which jobs run out of what "launchctl list" of macOS writes, and
// "launchctl print DOMAIN" among its services: lines of pid (a dash or 0 for a job that
// does not run), last exit status and label. It is here so that it is tested everywhere.
func parseLaunchctl(text string) map[int]string {
	if _, services, ok := strings.Cut(text, "\tservices = {\n"); ok {
		text, _, _ = strings.Cut(services, "\t}")
	}
	jobs := make(map[int]string)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		if pid, err := strconv.ParseInt(f[0], 10, 32); err == nil && pid > 0 {
			jobs[int(pid)] = strings.Join(f[2:], " ")
		}
	}
	return jobs
}
