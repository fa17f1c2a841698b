package setup

import (
	"lamplighter/monitor"
	"lamplighter/monitor/secret"
)

// mostShown bounds, in columns, what is shown of a command.
const mostShown = 1000

// showCommand writes a command for people, without what looks like a secret.
func showCommand(words []string) string {
	return monitor.Shorten(monitor.Quoted(secret.Words(words)), mostShown)
}

// showAddress writes the address of a server for people.
func showAddress(address string) string {
	return monitor.Shorten(monitor.Clean(secret.Text(address)), mostShown)
}
