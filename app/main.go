// Command lamplighter lights one lamp per MCP server on the machine: in the
// tray, on the command line and on the control socket.
//
// Only the start is here; the verbs are in app/cli.
package main

import (
	"os"
	"strings"

	"lamplighter/app/cli"
)

// version is set by the linker: -ldflags "-X main.version=1.2.3".
var version string

// stamp is set with it: -X main.stamp=lamplighter-version=1.2.3; by which the
// doctor of another copy finds the version in this program's file. What is not
// used would not be linked, so it also does alone.
var stamp string

func main() {
	if version == "" {
		_, version, _ = strings.Cut(strings.TrimSuffix(stamp, ";"), "=")
	}
	exit(cli.Main(version, os.Args[1:]))
}
