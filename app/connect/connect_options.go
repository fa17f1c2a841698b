package main

import (
	"errors"
	"strconv"
	"strings"
)

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
	if len(o.command) == 0 || o.command[0] == "" {
		return o, errors.New("after -- comes the command that the client would run")
	}
	return o, nil
}
