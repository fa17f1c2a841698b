package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const keepUsage = `usage: lamplighter-connect keep --lifetime session|shared --dir DIR --alive PATH [--linger SECONDS] [--browsers spare|end] -- COMMAND [ARG…]
`

// The time that a shared server goes on without any background process.
const (
	defaultLinger = 120 * time.Second
	maxLinger     = 24 * time.Hour
)

// options are what the command line says.
type options struct {
	shared  bool          // survives the background process
	dir     string        // for the log
	alive   string        // path of the lock that the background process holds
	linger  time.Duration // of a shared server
	spare   bool          // browsers, beside what else people work in
	command []string      // program first, with its absolute path
}

func parse(args []string) (options, error) {
	o := options{linger: defaultLinger}
	if len(args) == 0 || args[0] != "keep" {
		return o, errors.New("keep is the mode of a keeper")
	}
	lifetime := ""
	for args = args[1:]; len(args) > 0; args = args[2:] {
		name := args[0]
		if name == "--" {
			o.command = args[1:]
			break
		}
		if len(args) == 1 {
			return o, errors.New(strconv.Quote(name) + " has no value")
		}
		value := args[1]
		switch name {
		case "--lifetime":
			lifetime = value
		case "--dir":
			o.dir = value
		case "--alive":
			o.alive = value
		case "--linger":
			seconds, err := strconv.ParseUint(value, 10, 32)
			if err != nil || time.Duration(seconds)*time.Second > maxLinger {
				return o, errors.New("--linger is a number of seconds, at most a day")
			}
			o.linger = time.Duration(seconds) * time.Second
		case "--browsers":
			if value != "spare" && value != "end" {
				return o, errors.New("--browsers is spare or end")
			}
			o.spare = value == "spare"
		default:
			return o, errors.New("there is no option " + strconv.Quote(name))
		}
	}
	o.shared = lifetime == "shared"
	switch {
	case !o.shared && lifetime != "session":
		return o, errors.New("--lifetime is session or shared")
	case o.dir == "" || o.alive == "":
		return o, errors.New("--dir and --alive are needed")
	case len(o.command) == 0 || !filepath.IsAbs(o.command[0]):
		return o, errors.New("after -- comes the absolute path of a program")
	}
	return o, nil
}

// misused ends the program when it was called in a wrong way, or for help.
func misused(err error, usage string) {
	if err == errHelp {
		os.Stdout.WriteString(usage)
		os.Exit(0)
	}
	if err != nil {
		os.Stderr.WriteString("lamplighter-connect: " + err.Error() + "\n" + usage)
		os.Exit(2)
	}
}
