package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter/monitor"
)

// seen is what can be told of a program without running it: the zero Problem
// when it may run, and why not.
type seen struct {
	problem Problem
	detail  string
}

// examined looks at a program.
func examined(path string) seen {
	shown := monitor.Clean(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if to, linkErr := os.Readlink(path); linkErr == nil {
			return seen{NotFound, fmt.Sprintf("%s is a link to %s, which is not there: install it again, or remove the link.", shown, monitor.Clean(to))}
		}
		return seen{NotFound, fmt.Sprintf("There is no file %s.%s", shown, notFoundHint)}
	case errors.Is(err, fs.ErrPermission):
		return seen{NotExecutable, fmt.Sprintf("%s cannot be reached: no permission for its directory.", shown)}
	case err != nil:
		return seen{NotExecutable, fmt.Sprintf("%s cannot be examined: %s.", shown, cause(err))}
	case info.IsDir():
		return seen{NotExecutable, fmt.Sprintf("%s is a directory, not a program.", shown)}
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeIrregular == 0:
		return seen{NotExecutable, fmt.Sprintf("%s is not a file that can be run.", shown)}
	}
	return executable(path, shown)
}

// unstartable explains why a program that may run did not start.
func unstartable(path string, err error) seen {
	shown := monitor.Clean(path)
	switch names := shebang(path); {
	case errors.Is(err, fs.ErrNotExist) && names != "":
		return seen{NotExecutable, fmt.Sprintf("%s is a script for %s, which is not there: the environment was moved or removed. Install it again.", shown, monitor.Clean(names))}
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(path); err == nil {
			return seen{NotExecutable, fmt.Sprintf("%s is there, but not what the system needs to load it: it was made for another system.", shown)}
		}
		return seen{NotFound, fmt.Sprintf("There is no file %s.%s", shown, notFoundHint)}
	case isForeign(err):
		return seen{NotExecutable, fmt.Sprintf("%s cannot run on this machine: it is no program, a script without its first line, or made for another processor.", shown)}
	case errors.Is(err, fs.ErrPermission):
		return seen{NotExecutable, fmt.Sprintf("%s may not be run: %s.", shown, cause(err))}
	}
	return seen{Failed, fmt.Sprintf("%s could not be started: %s.", shown, cause(err))}
}

// cause is an error without the operation and the path, which are said already.
func cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// resolved is path without symbolic links, or path itself.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
