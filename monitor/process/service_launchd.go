package process

import (
	"strconv"
	"strings"
)

// What launchctl of macOS writes. The parsers are plain functions, so that they
// are tested everywhere.

// parseLaunchctlList reads the table of "launchctl list": pid (a dash for a job
// that does not run), last exit status and label, between tabs.
func parseLaunchctlList(text string) map[int]string {
	jobs := make(map[int]string)
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) == 3 {
			addJob(jobs, f[0], f[2])
		}
	}
	return jobs
}

// parseLaunchctlPrint reads the services that "launchctl print DOMAIN" lists:
// lines of pid (0 for a job that does not run), last exit status and label
// inside a block of their own.
func parseLaunchctlPrint(text string) map[int]string {
	jobs := make(map[int]string)
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "services = {":
			inside = true
		case line == "}":
			inside = false
		case inside:
			if f := strings.Fields(line); len(f) == 3 {
				addJob(jobs, f[0], f[2])
			}
		}
	}
	return jobs
}

func addJob(jobs map[int]string, pid, label string) {
	if n, err := strconv.ParseInt(pid, 10, 32); err == nil && n > 0 && label != "" {
		jobs[int(n)] = label
	}
}
