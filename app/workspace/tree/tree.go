// Package tree copies, measures, compares, packs and removes directory trees. It
// follows no symbolic link, opens nothing that is no file or directory, and works
// below the directories that it is given, whatever is done to their content
// meanwhile.
package tree

import (
	"context"
	"errors"
	"io"
)

var errUnbuilt = errors.New("not built yet")

// Count is of files and of their bytes: as they would be read.
type Count struct {
	Files int64 // files, links and directories below the root
	Bytes int64
}

// Options say how to copy.
type Options struct {
	// Skip leaves out a path below the root, with slashes, and all below it.
	Skip func(path string) bool
	// Base is a directory with an older copy: what is the same there (content and
	// mode) becomes a hard link to it where it cannot be cloned. "" is none.
	Base string
	// Progress is told of what has been copied, 10 times a second at most.
	Progress func(done Count)
	// ReadOnly takes the permission to write from files, not from directories.
	ReadOnly bool
}

// Copied is what came of a copy.
type Copied struct {
	Count
	Cloned int64 // files that share their blocks with the source
	Linked int64 // files that are hard links to Base
	// Left are what was left out because it is neither file, directory nor link,
	// or because it was gone or changed while it was read: "path: why", the first 20.
	Left []string
}

// Copy copies what is in the directory from into the directory to, which is
// there and empty. Modes, times, links and holes are kept, hard links among the
// files too; owners are not. Blocks are shared where the file system can do that
// (FICLONE, clonefile, and ReFS not). A source that changes meanwhile gives each file as it was at some
// moment. When it fails, also because the disk is full or ctx ends, what is in to is the caller's to remove.
func Copy(ctx context.Context, from, to string, o Options) (Copied, error) {
	return Copied{}, errUnbuilt
}

// Measure counts what is below dir; files with several links in it once, with
// the bytes that they take on the disk as Bytes.
func Measure(ctx context.Context, dir string, skip func(string) bool) (Count, error) {
	return Count{}, errUnbuilt
}

// Identity names a directory itself, whatever path leads to it: "dev:inode" or
// what the system has. A symbolic link is an error.
func Identity(dir string) (string, error) { return "", errUnbuilt }

// Remove removes dir and all below it, also where it holds directories without permissions,
// when its Identity is identity; "" is any. It is not followed where it is a link, and no
// other file system that is mounted below it is touched: then the error says so
// before anything is removed. It is no error when dir is not there.
func Remove(ctx context.Context, dir, identity string, progress func(Count)) error {
	return errUnbuilt
}

// Difference is one path that differs.
type Difference struct {
	Path string
	What string // added, removed, changed, mode
}

// Compare tells what differs from directory a to directory b: content, kind,
// link target, and permissions other than to write. Up to most differences are returned; 0 is all.
func Compare(ctx context.Context, a, b string, skip func(string) bool, most int) ([]Difference, error) {
	return nil, errUnbuilt
}

// Pack writes the directories, each under its name, as a tar compressed with zstd.
func Pack(ctx context.Context, w io.Writer, dirs map[string]string, o Options) (Count, error) {
	return Count{}, errUnbuilt
}

// Unpack reads what Pack wrote: the content of each name into the directory that
// dirs has for it; other names are left out. Nothing is written outside of these,
// whatever the archive says, and no more than limit bytes in all. Unpack with nil dirs
// verifies that an archive is whole.
func Unpack(ctx context.Context, r io.Reader, dirs map[string]string, limit int64, progress func(Count)) (Count, error) {
	return Count{}, errUnbuilt
}
