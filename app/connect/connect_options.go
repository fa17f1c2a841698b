package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const usage = `usage: lamplighter-connect connect [--or-direct] [--socket PATH] [FLAG…] -- COMMAND [ARG…]
       lamplighter-connect version

It is the MCP server COMMAND to the client that runs it, and shares COMMAND with
all clients that would run the same. Lamplighter has to run.

  --or-direct    run COMMAND itself when lamplighter cannot be reached
  --socket PATH  of lamplighter, where neither LAMPLIGHTER_SOCKET nor the user's
                 own directories lead to it
  FLAG           is for lamplighter: --web-dashboard-global[=true|false],
                 --web-dashboard-global-open-on-launch[=true|false],
                 --web-dashboard-global-port PORT, --idle-shutdown-minutes N,
                 --flag TEXT for any other
`

// errHelp is that the usage is asked for.
var errHelp = errors.New("help")

// connectOptions are what the command line says after connect.
type connectOptions struct {
	socket   string   // "": see findSockets
	orDirect bool     // become the command when there is no background process
	flags    []string // for the background process, NAME=VALUE where there is a value
	command  []string
}

// passed are the flags of lamplighter itself that are passed on: whether a value
// follows as an argument of its own.
var passed = map[string]bool{
	"--web-dashboard-global":                false,
	"--web-dashboard-global-open-on-launch": false,
	"--web-dashboard-global-port":           true,
	"--idle-shutdown-minutes":               true,
}

func parseConnect(args []string) (connectOptions, error) {
	var o connectOptions
	for len(args) > 0 {
		whole := args[0]
		args = args[1:]
		if whole == "--" {
			o.command = args
			break
		}
		// Some clients take the -- away.
		if !strings.HasPrefix(whole, "-") {
			o.command = append([]string{whole}, args...)
			break
		}
		name, value, inline := strings.Cut(whole, "=")
		follows, isPassed := passed[name]
		if (follows || name == "--socket" || name == "--flag") && !inline {
			if len(args) == 0 || args[0] == "--" {
				return o, errors.New(strconv.Quote(name) + " has no value")
			}
			value, args = args[0], args[1:]
			whole = name + "=" + value
		}
		switch {
		case whole == "-h" || whole == "--help":
			return o, errHelp
		case isPassed:
			o.flags = append(o.flags, whole)
		case name == "--flag":
			o.flags = append(o.flags, value)
		case name == "--socket" && value != "":
			o.socket = value
		case whole == "--or-direct":
			o.orDirect = true
		default:
			return o, errors.New("there is no option " + strconv.Quote(whole))
		}
	}
	if err := checkSocket(cmp.Or(o.socket, os.Getenv("LAMPLIGHTER_SOCKET"))); err != nil {
		return o, err
	}
	if len(o.command) == 0 || o.command[0] == "" {
		return o, errors.New("after -- comes the command that the client would run")
	}
	return o, nil
}

// checkSocket refuses a path that depends on the directory we are started in,
// which is another one for each client.
func checkSocket(path string) error {
	if path == "" || filepath.IsAbs(path) {
		return nil
	}
	return errors.New("the socket has to be an absolute path, not " + strconv.Quote(path) + " (--socket or LAMPLIGHTER_SOCKET)")
}
