// Command lamplighter-connect stands between lamplighter and what it starts, and
// between lamplighter and those who use that.
//
//	lamplighter-connect connect [--socket PATH] [--or-direct] [--flag TEXT]… -- COMMAND [ARG…]
//
// connect is a stdio MCP server to its client, which would run COMMAND otherwise.
// It passes the lines of the client to lamplighter's background process through
// the socket at PATH, and what comes back to the client; see package wire. Where
// COMMAND cannot be shared, it runs COMMAND below itself, with its own standard
// input and output, and ends all that came of it with it. It never starts the
// background process. Without one it refuses the client's first request and
// exits with 69, or with --or-direct becomes COMMAND. Once it is connected, it
// outlives the background process: it waits for the next one. --socket is needed
// where LAMPLIGHTER_SOCKET, or else the user's own directories, do not lead to the
// right one. A --flag is passed on, and so are the flags --web-dashboard-global,
// --web-dashboard-global-port, --web-dashboard-global-open-on-launch and
// --idle-shutdown-minutes of lamplighter. The exit status is 0 when the client
// has ended the connection or a signal us, that of COMMAND where that ran, 126 or
// 127 where it could not, 69 without a background process, and 2 for a wrong
// usage.
//
// own is for the shim's own use: it is the keeper above a COMMAND that is not
// shared.
//
//	lamplighter-connect keep --lifetime session|shared --dir DIR --alive PATH [--linger SECONDS] [--browsers spare|end] -- COMMAND [ARG…]
//
// keep is the keeper above one server. It starts COMMAND, an absolute path, with
// its own environment and working directory, stays for as long as anything lives
// that came of it, and ends all of it when it is told to or when the background
// process has died, which it learns from the lock at PATH. Programs that people
// work in go on then, with all below them: editors, terminals and the like
// always, browsers with --browsers spare, because for many servers they are
// tools. On Windows nothing goes on. What the server prints goes to
// DIR/output.log. Its own standard output is for the launcher: see line. The exit
// status is 0 when nothing else is left, 1 when COMMAND could not be started and
// 2 for a wrong usage.
//
// drain is for the keeper's own use: it reads standard input to its end.
//
// It runs once per server and once per client, all day long. So it is small, and
// does nothing but wait in blocking calls.
//
// What can be shared, which servers run and when they are to end is decided in the
// background process (app/share, app/launch); who is a program that people work in
// is monitor/command's.
package main
