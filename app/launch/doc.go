// Package launch finds the command of a server, starts it, and knows what it
// has started.
//
// The finding part (Finder) makes the ordered list of candidates for a command,
// checks them, and says of each one that does not work why: a desktop process
// has a poor environment, and who cannot start a server must learn the reason.
// What the candidates are is decided by candidatesFor, a pure function of facts
// that are gathered at the edge.
//
// The starting part (Launcher) runs what was found under a keeper, waits until
// the server takes MCP, keeps a record of it on disk, and ends or adopts what an
// earlier background process left behind.
//
// Who asks for a server and how many there may be is decided elsewhere.
package launch
