package daemon

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"lamplighter/monitor"
)

// SystemProgram runs a program of the system, without a window of its own, and
// returns what it printed, both outputs.
func SystemProgram(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = windowless()
	// What it leaves running may hold its output.
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// Asked is what a program of the system answers within a time, without white space
// around it. The error says what it said.
func (p *Program) Asked(ctx context.Context, limit time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	run := p.Command
	if run == nil {
		run = SystemProgram
	}
	output, err := run(ctx, name, args...)
	text := strings.TrimSpace(string(output))
	shown := monitor.Quoted(append([]string{name}, args...))
	switch {
	case err == nil:
		return text, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return text, fmt.Errorf("%s: nothing came of it within %s: %w", shown, monitor.Span(limit), ctx.Err())
	case text == "":
		return text, fmt.Errorf("%s: %w", shown, err)
	}
	return text, fmt.Errorf("%s: %w: %s", shown, err, monitor.Shorten(monitor.Clean(text), 300))
}
