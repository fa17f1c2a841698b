package gitwork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/monitor/statefile"
)

// seeing is git that compares also the files that it was told to take for
// unchanged, or not to look at, see "assume unchanged" and "skip-worktree" in
// git-update-index(1): with an index of its own, which done removes. Files that are
// not there are none of those, as in a sparse checkout.
func (g git) seeing(ctx context.Context) (sees git, done func(), err error) {
	out, err := g.read(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return g, nil, err
	}
	var there []string
	for _, path := range parseHidden(string(out)) {
		if _, err := os.Lstat(filepath.Join(g.tree, filepath.FromSlash(path))); err == nil {
			there = append(there, path)
		}
	}
	if len(there) == 0 {
		return g, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "lamplighter-index-")
	if err != nil {
		return g, nil, fmt.Errorf("looking at files that git was told not to look at: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) }
	sees = g
	sees.index = filepath.Join(dir, "index")
	err = copyIndex(filepath.Join(g.admin, "index"), sees.index)
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		if err == nil {
			_, err = sees.run(ctx, call{args: []string{"update-index", flag, "-z", "--stdin"}, input: strings.Join(there, "\x00") + "\x00"})
		}
	}
	if err != nil {
		done()
		return g, nil, fmt.Errorf("looking at files that git was told not to look at: %w", err)
	}
	return sees, done, nil
}

// parseHidden reads what `git ls-files -v -z` prints, "tag path" each: a tag in
// lower case is of what is assumed unchanged, and S of what is skipped.
func parseHidden(text string) []string {
	var paths []string
	for record := range strings.SplitSeq(text, "\x00") {
		tag, path, ok := strings.Cut(record, " ")
		hidden := tag == "S" || len(tag) == 1 && tag[0] >= 'a' && tag[0] <= 'z'
		if ok && hidden && path != "" && filepath.IsLocal(filepath.FromSlash(path)) {
			paths = append(paths, path)
		}
	}
	return paths
}

func copyIndex(from, to string) error {
	if err := statefile.Check(from); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	// Files as young as their index git compares; a younger one would have it trust them.
	if info, statErr := in.Stat(); err == nil && statErr == nil {
		err = out.Close()
		return errors.Join(err, os.Chtimes(to, info.ModTime(), info.ModTime()))
	}
	return errors.Join(err, out.Close())
}
