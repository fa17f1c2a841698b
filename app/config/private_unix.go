//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter/monitor/statefile"
)

// MakePrivate makes sure that nobody but this user can replace what lies in
// dir, which is made with mode 0700 when it is missing. The error wraps
// ErrNotPrivate or is the system's; variable is what it says to set to another
// place.
func MakePrivate(dir, variable string) error { return makePrivate(dir, variable, os.Getuid()) }

func makePrivate(dir, variable string, uid int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("its directory cannot be made: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	// Where others may make files, such as in /tmp, one could lead us to any
	// directory of ours, and elsewhere later.
	if uid := foreignLink(info, uid); uid >= 0 {
		return fmt.Errorf("%w: %s is a symbolic link of user id %d; set %s to a place in a directory of your own",
			ErrNotPrivate, dir, uid, variable)
	}
	if info, err = os.Stat(dir); err != nil {
		return err
	}
	owner := statefile.Owner(info)
	switch judgeDirectory(owner, uid, info.Mode(), filepath.Base(dir) == "lamplighter") {
	case keep:
		return nil
	case tighten:
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("%w: %s has mode %04o and it cannot be changed (%w); set %s to a place in a directory of your own",
				ErrNotPrivate, dir, info.Mode().Perm(), err, variable)
		}
		return nil
	}
	if owner != uid {
		return fmt.Errorf("%w: %s belongs to user id %d; set %s to a place in a directory of your own",
			ErrNotPrivate, dir, owner, variable)
	}
	return fmt.Errorf("%w: others may write to %s (mode %04o); run chmod go-w on it, or set %s to another place",
		ErrNotPrivate, dir, info.Mode().Perm(), variable)
}

// foreignLink is whose symbolic link this is, if that is neither the user nor
// root, and else -1.
func foreignLink(info fs.FileInfo, uid int) int {
	owner := statefile.Owner(info)
	if info.Mode()&fs.ModeSymlink == 0 || owner == uid || owner == 0 {
		return -1
	}
	return owner
}

type verdict int

const (
	refuse verdict = iota
	keep
	tighten // to 0700
)

// judgeDirectory decides about a directory of our files. One that bears our
// name is ours to tighten. Any other was chosen by the user and is left as it
// is when nobody else can replace what lies in it: nobody else may write to
// it, or it is sticky like /tmp (our files are 0600, and both ends of the
// socket look at the other's user).
func judgeDirectory(owner, uid int, mode fs.FileMode, ours bool) verdict {
	sticky := mode&fs.ModeSticky != 0
	switch {
	case !mode.IsDir(), owner != uid && (owner != 0 || !sticky):
		return refuse
	case owner == uid && ours && mode.Perm()&0o077 != 0 && !sticky:
		return tighten
	case mode.Perm()&0o022 == 0, sticky:
		return keep
	}
	return refuse
}
