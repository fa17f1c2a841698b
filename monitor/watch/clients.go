package watch

import (
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// clientName says which program started an instance.
func clientName(p process.Info) string { return monitor.ClientName(p.Name, p.Exe, p.Args) }
