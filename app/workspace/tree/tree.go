// Package tree copies, measures, compares, packs and removes directory trees. It
// follows no symbolic link, not even where a root that it is given is one. It opens
// nothing that is no file or directory, and works below the directories that it is
// given, whatever is done to their content meanwhile: each name is looked up in a
// directory that is open.
//
// copy.go, measure.go, remove.go, compare.go, pack.go and unpack.go are an operation
// each. dir_unix.go and dir_windows.go are what they need of the system, and pool.go
// shares the work among a few workers.
//
// Whose trees they are, and whether one may go, is decided in app/workspace.
package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Count is of files and of their bytes: as they would be read.
type Count struct {
	Files int64 // files, links and directories below the root
	Bytes int64
}

// mostLeft bounds what is told of what was left out.
const mostLeft = 20

// kind is what an entry of a directory is.
type kind uint8

const (
	unknown kind = iota // the directory does not tell
	regular
	directory
	link
	other // a pipe, a socket, a device, a junction of Windows
)

// entry is a name in a directory.
type entry struct {
	name string
	kind kind
}

// fileID tells files of one running system apart.
type fileID struct{ dev, ino uint64 }

// moment is a time as the system has it.
type moment struct{ sec, nsec int64 }

func (m moment) time() time.Time { return time.Unix(m.sec, m.nsec) }

// meta is what is known of a file.
type meta struct {
	kind  kind
	perm  fs.FileMode // the nine bits
	size  int64
	taken int64 // bytes on the disk
	mtime moment
	atime moment
	ctime moment
	id    fileID
	links uint64
}

// word names a kind for people.
func (m meta) word() string {
	switch m.kind {
	case regular:
		return "file"
	case directory:
		return "directory"
	case link:
		return "link"
	}
	return "pipe, socket or device"
}

// errChanged says that a name means something else than a moment before.
var errChanged = errors.New("it was replaced meanwhile")

// vanished reports whether something is not there any more, or not as what it was.
func vanished(err error) bool {
	if errors.As(err, new(damaged)) {
		return false
	}
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errChanged) || isStale(err)
}

// join is path with a name below it; "" is the root.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// shown is a path below a root for people.
func shown(path string) string {
	if path == "" {
		return "the directory itself"
	}
	return fmt.Sprintf("%q", path)
}

// plain reports whether a name is one name, in every system.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}
