// Command lamplighter-connect stands between lamplighter and what it starts.
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
// It runs once per server, all day long. So it is small, and does nothing but
// wait in blocking calls.
package main

import "os"

func main() {
	if len(os.Args) == 2 && os.Args[1] == drainMode {
		drain(os.Stdin)
		return
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		os.Stderr.WriteString("lamplighter-connect: " + err.Error() + "\n" + usage)
		os.Exit(2)
	}
	os.Exit(keep(o))
}
