// Command lamplighter lights one lamp per MCP server on the machine: in the
// tray, on the command line and on the control socket.
//
// Only the start is here; the verbs are in app/cli.
package main

import (
	"os"

	"lamplighter/app/cli"
)

// version is set by the linker: -ldflags "-X main.version=1.2.3".
var version string

func main() {
	os.Exit(cli.Main(version, os.Args[1:]))
}
