package process

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"lamplighter/monitor"
)

// launchctlLimit is how long launchctl may take.
const launchctlLimit = 5 * time.Second

// ServiceOf returns the label of the launchd job whose process lies in a tree of
// processes, of our own session or of the system, "" when there is none. A
// program that a user opens is a job too: that is what lies above the tree and
// counts only if it is in it. Containers run in a virtual machine here and
// cannot be seen.
func ServiceOf(ctx context.Context, tree []monitor.Identity) (unit string, err error) {
	ctx, cancel := context.WithTimeout(ctx, launchctlLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/launchctl", "list").Output()
	if err != nil {
		return "", fmt.Errorf("asking launchctl for the jobs of our session: %w", err)
	}
	jobs := parseLaunchctlList(string(out))
	out, err = exec.CommandContext(ctx, "/bin/launchctl", "print", "system").Output()
	if err != nil {
		return "", fmt.Errorf("asking launchctl for the jobs of the system: %w", err)
	}
	system := parseLaunchctlPrint(string(out))
	for _, id := range tree {
		for _, known := range []map[int]string{jobs, system} {
			if label := known[id.PID]; label != "" {
				return label, nil
			}
		}
	}
	return "", nil
}
