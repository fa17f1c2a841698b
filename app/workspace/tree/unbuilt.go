package tree

import (
	"context"
	"errors"
	"io"
)

var errUnbuilt = errors.New("not built yet")

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
