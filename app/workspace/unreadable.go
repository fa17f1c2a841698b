package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/monitor"
)

// unreadable is the error of records that cannot be read. Where the trees of those
// lie nobody knows, but for what they are called: their names end with the ends of
// the ids, see nameOf.
type unreadable struct {
	ids  []string
	errs []error // of each
}

func (u *unreadable) Error() string { return errors.Join(u.errs...).Error() }

func (u *unreadable) Unwrap() []error { return u.errs }

// claim says of a directory, or of one below it, that it may be the tree of such a
// record, or what was set aside of that, and what to do; "" when none is. Links are
// not followed. The error is that nobody could look.
func (u *unreadable) claim(ctx context.Context, dir string) (string, error) {
	claimed := errors.New("it is claimed")
	words := ""
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case path == dir && u.named(path) >= 0, err == nil && entry.IsDir() && u.named(path) >= 0 && !isAdmin(path):
			words = monitor.Clean(fmt.Sprintf("%s may be a workspace whose record cannot be read: %v", path, u.errs[u.named(path)]))
			return claimed
		case errors.Is(err, fs.ErrNotExist): // it has gone meanwhile
			return nil
		}
		return err
	})
	if err != nil && !errors.Is(err, claimed) {
		return "", fmt.Errorf("nobody can tell whether a workspace whose record cannot be read lies in %s: %w", monitor.Clean(dir), err)
	}
	return words, nil
}

// unreadIn is claim where err is an *unreadable: what it says, or that nobody could
// look.
func unreadIn(ctx context.Context, dir string, err error) string {
	var u *unreadable
	if !errors.As(err, &u) {
		return ""
	}
	words, err := u.claim(ctx, dir)
	if err != nil {
		return monitor.Clean(err.Error())
	}
	return words
}

// named is which of the records a directory may belong to by its name, -1 for none.
func (u *unreadable) named(path string) int {
	name := strings.ToLower(filepath.Base(path))
	for i, id := range u.ids {
		if strings.Contains(name, "-"+id[len(id)-shortest:]) {
			return i
		}
	}
	return -1
}

// isAdmin reports whether a directory is what git keeps of a worktree, which has the
// name of that.
func isAdmin(path string) bool {
	_, err := os.Lstat(filepath.Join(path, "commondir"))
	return err == nil && filepath.Base(filepath.Dir(path)) == "worktrees"
}
