package installer

import (
	"context"
	"os/exec"
	"time"
)

// command runs a program of the system. A child of it that keeps the output open
// holds it up for a second at most.
func command(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	hideWindow(cmd)
	return cmd.CombinedOutput()
}
