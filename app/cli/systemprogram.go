package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"lamplighter/monitor"
)

// systemProgram runs a program of the system, without a window of its own, and
// returns what it printed, both outputs.
func systemProgram(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = windowless()
	// What it leaves running may hold its output.
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// asked is what a program of the system answers within a time, without white space
// around it. The error says what it said.
func (p *program) asked(ctx context.Context, limit time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	run := p.command
	if run == nil {
		run = systemProgram
	}
	output, err := run(ctx, name, args...)
	text := strings.TrimSpace(string(output))
	shown := monitor.Quoted(append([]string{name}, args...))
	switch {
	case err == nil:
		return text, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return text, fmt.Errorf("%s: nothing came of it within %v: %w", shown, limit, ctx.Err())
	case text == "":
		return text, fmt.Errorf("%s: %w", shown, err)
	}
	return text, fmt.Errorf("%s: %w: %s", shown, err, monitor.Shorten(monitor.Clean(text), 300))
}
