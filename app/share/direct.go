package share

import (
	"context"
	"fmt"
	"os"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// direct says which program besides us is connected to a server, as a part of a
// sentence, "" when none is. Who knows the address of a shared server, which the
// page shows, can be its client without a lease.
func direct(_ context.Context, s Server) (who string, err error) {
	all, err := process.Connections(monitor.PortOf(s.MCPURL())) // which says that 0 is no port
	if err != nil {
		return "", fmt.Errorf("looking who else is connected to it: %w", err)
	}
	for _, c := range all {
		switch c.PID {
		case os.Getpid():
		case 0: // in a container, on another machine behind a tunnel, or another user's
			return "a program that could not be found out is connected to it", nil
		default:
			return fmt.Sprintf("%s is connected to it", nameOf(c.PID)), nil
		}
	}
	return "", nil
}

// nameOf is what to call a process. It is safe to show.
func nameOf(pid int) string {
	info, err := process.Read(pid)
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("%s (%d)", monitor.Clean(monitor.Shorten(info.Name, programColumns)), pid)
}
