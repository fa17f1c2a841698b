// Package serena knows Serena from the outside: how a command line that starts
// its MCP server looks, what an instance's own dashboard answers, and how an
// instance registers with a tray manager, which TrayEndpoint is. It needs
// nothing installed and changes nothing in an instance. It is tested with
// Serena 1.5.3, 1.7.0 and 2.1.0.
//
// Which processes exist is monitor/process, and what to make of an answer or a
// registration is monitor and monitor/watch.
package serena
