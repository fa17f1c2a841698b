//go:build unix

package cli

import (
	"context"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// terminate asks a process to end: that one, or nobody.
func terminate(_ context.Context, id monitor.Identity) error {
	h, err := process.Hold(id)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Terminate()
}
