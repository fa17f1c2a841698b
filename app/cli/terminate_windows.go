package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/windows"

	"lamplighter/app/daemon"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// terminateTime is what the system gets to ask a process to end.
const terminateTime = 10 * time.Second

// terminate asks a process to end, by its windows. It is held meanwhile, so that its
// pid stays its own.
//
// Source: taskkill, without /F.
func terminate(ctx context.Context, id monitor.Identity) error {
	h, err := process.Hold(id)
	if err != nil {
		return err
	}
	defer h.Close()
	program, err := taskkill()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, terminateTime)
	defer cancel()
	output, err := daemon.SystemProgram(ctx, program, "/PID", strconv.Itoa(id.PID))
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("taskkill: nothing came of it within %s: %w", monitor.Span(terminateTime), ctx.Err())
	case err != nil:
		return fmt.Errorf("taskkill: %w: %s", err, monitor.Clean(strings.TrimSpace(string(output))))
	}
	return nil
}

// taskkill is the path of the system's own, whatever else bears its name on PATH.
func taskkill() (string, error) {
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		return "", fmt.Errorf("taskkill cannot be found: %w", err)
	}
	return filepath.Join(dir, "taskkill.exe"), nil
}
