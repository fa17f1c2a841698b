package main

import "os"

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
		misused(err)
		os.Exit(connect(o))
	default:
		o, err := parse(os.Args[1:])
		misused(err)
		os.Exit(keep(o))
	}
}

// misused ends the program when it was called in a wrong way.
func misused(err error) {
	if err != nil {
		os.Stderr.WriteString("lamplighter-connect: " + err.Error() + "\n" + usage)
		os.Exit(2)
	}
}
