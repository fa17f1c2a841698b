package main

import (
	"errors"
	"os"
	"strconv"
)

func main() {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch {
	case mode == drainMode && len(os.Args) == 2:
		drain(os.Stdin)
	case mode == ownMode && len(os.Args) > 3 && os.Args[2] == "--":
		os.Exit(keepOwn(os.Args[3:]))
	case mode == "connect":
		o, err := parseConnect(os.Args[2:])
		misused(err, usage)
		os.Exit(connect(o))
	case mode == "keep":
		o, err := parse(os.Args[1:])
		misused(err, keepUsage)
		os.Exit(keep(o))
	case mode == "-h" || mode == "--help" || mode == "help":
		os.Stdout.WriteString(usage)
	case mode == "version" || mode == "--version":
		os.Stdout.WriteString("lamplighter-connect " + version + "\n")
	default:
		misused(errors.New("there is no mode "+strconv.Quote(mode)), usage)
	}
}
