package setup

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"lamplighter/monitor"
)

// machine is what entries are judged by, besides what they say.
type machine struct {
	goos      string
	connect   string // our lamplighter-connect, "" when it is not there
	socket    string // that entries have to name, "" for none
	pageOpens bool   // Serena's own page does, unless a command says otherwise

	// find returns the path of the program that a client starts by that name, ""
	// when there is none.
	find func(program string) string
	// unfit says why a program that is not found cannot be run, as a part of a
	// sentence, "" when it is not there; nil for not to be asked.
	unfit func(program string) string
	// same reports whether two paths are those of one file.
	same func(a, b string) bool
}

// machine is this machine as it is now. What it has found it remembers.
func (s *Setup) machine() machine {
	look := s.o.LookPath
	if look == nil {
		look = finder{runtime.GOOS, s.o.Home, s.o.Getenv}.lookPath
	}
	found := map[string]string{}
	m := machine{
		goos: runtime.GOOS, connect: s.o.Connect, socket: s.o.Socket, same: sameFile, unfit: unfit,
		find: func(program string) string {
			path, known := found[program]
			if !known {
				path, _ = look(program) // what cannot be looked at is not found
				found[program] = path
			}
			return path
		},
	}
	opens := s.o.PageOpens
	if opens == nil {
		opens = func() bool { return serenaOpensPage(s.o.Home, s.o.Getenv) }
	}
	m.pageOpens = opens()
	return m
}

// sameFile reports whether two paths lead to one file. Of one that is not there the
// path counts.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// checkConnect says why nothing can be put in front of servers.
func (s *Setup) checkConnect() error {
	switch _, err := os.Stat(s.o.Connect); {
	case s.o.Connect == "":
		return fmt.Errorf("%w; it belongs beside lamplighter: install both again", ErrNoConnect)
	case err != nil:
		return fmt.Errorf("%w: %w; install lamplighter again", ErrNoConnect, err)
	case !filepath.IsAbs(s.o.Connect):
		return fmt.Errorf("%w: %s is %w", ErrNoConnect, s.o.Connect, fs.ErrInvalid)
	}
	if why := unfit(s.o.Connect); why != "" {
		return fmt.Errorf("%w: %s %s; install lamplighter again", ErrUnfitConnect, monitor.Clean(s.o.Connect), why)
	}
	return nil
}

// unfit says why what lies at a path cannot be run, as a part of a sentence, ""
// when nothing speaks against it or nothing lies there.
func unfit(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil || !filepath.IsAbs(path):
		return ""
	case info.IsDir():
		return "is a directory"
	case !info.Mode().IsRegular():
		return "is not a program"
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return fmt.Sprintf("may not be run (its mode is %04o)", info.Mode().Perm())
	}
	return ""
}
