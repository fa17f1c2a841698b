package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// Change is one file that differs between two versions.
type Change struct {
	Path string `json:"path"`
	What string `json:"what"`           // added, removed, changed, mode
	Diff string `json:"diff,omitempty"` // unified, of texts up to 1 MiB; safe to show, see visible
}

const (
	// textLimit is how long a file may be of which a diff is made.
	textLimit = 1 << 20
	// diffsLimit is how long all diffs of one answer may be together; those beyond
	// it are left out.
	diffsLimit = 16 << 20
)

// Diff is what differs from version from to version to; 0 as to is the tree, 0 as
// from is the version before that, and nothing where there is none.
func (m *Manager) Diff(ctx context.Context, id string, from, to int) ([]Change, error) {
	r, err := m.find(id)
	if err != nil {
		return nil, err
	}
	versions, err := m.versions(r.ID)
	if err != nil {
		return nil, err
	}
	failed := func(err error) ([]Change, error) { return nil, fmt.Errorf("comparing versions of %s: %w", r.Name, err) }
	b := r.Path
	if to == 0 {
		if err := m.atTree(r); err != nil {
			return failed(err)
		}
	} else if b, err = versionAt(r, versions, to); err != nil {
		return failed(err)
	}
	if from == 0 {
		from = before(versions, to)
	}
	var a string
	if from == 0 {
		if a, err = os.MkdirTemp("", "lamplighter-nothing-*"); err != nil {
			return failed(err)
		}
		defer os.Remove(a)
	} else if a, err = versionAt(r, versions, from); err != nil {
		return failed(err)
	}
	differences, err := tree.Compare(ctx, a, b, m.skipped(r), 0)
	if err != nil {
		return failed(err)
	}
	changes, err := diffs(ctx, a, b, differences)
	if err != nil {
		return failed(err)
	}
	return changes, nil
}

// before is the number of the last version before another one, 0 when there is
// none; that of the tree is 0.
func before(versions []Version, number int) int {
	last := 0
	for _, v := range versions {
		if number == 0 || v.Number < number {
			last = v.Number
		}
	}
	return last
}

// versionAt is the tree of a version.
func versionAt(r *record, versions []Version, number int) (string, error) {
	i := slices.IndexFunc(versions, func(v Version) bool { return v.Number == number })
	switch {
	case i < 0 && len(versions) == 0:
		return "", fmt.Errorf("%w: it has no version %d, it has none at all", ErrBadRequest, number)
	case i < 0:
		return "", fmt.Errorf("%w: it has no version %d; `lamplighter workspace show %s` lists those that there are", ErrBadRequest, number, r.ID)
	case versions[i].Path == "":
		return "", fmt.Errorf("%w: version %d is in the archive; `lamplighter workspace restore %s` brings it back", ErrState, number, r.ID)
	}
	return versions[i].Path, nil
}

// diffs tells differences with what differs in texts.
func diffs(ctx context.Context, a, b string, differences []tree.Difference) ([]Change, error) {
	one, err := os.OpenRoot(a)
	if err != nil {
		return nil, err
	}
	defer one.Close()
	other, err := os.OpenRoot(b)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	changes := make([]Change, 0, len(differences))
	total := 0
	for _, d := range differences {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c := Change{Path: d.Path, What: d.What}
		if total < diffsLimit && d.What != "mode" {
			c.Diff = diff(one, other, d)
			total += len(c.Diff)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// diff is the unified diff of a file in two directories, "" when it is no text in
// one of them.
func diff(a, b *os.Root, d tree.Difference) string {
	var old, now string
	var ok bool
	from, to := os.DevNull, os.DevNull
	if d.What != "added" {
		if old, ok = text(a, d.Path); !ok {
			return ""
		}
		from = "a/" + monitor.Clean(d.Path)
	}
	if d.What != "removed" {
		if now, ok = text(b, d.Path); !ok {
			return ""
		}
		to = "b/" + monitor.Clean(d.Path)
	}
	unified, err := udiff.ToUnified(from, to, old, udiff.Lines(old, now), udiff.DefaultContextLines)
	if err != nil {
		return ""
	}
	return visible(unified)
}

// text reads a file that is a text, and not too long. What is no file is not
// opened, and no link leads out of root.
func text(root *os.Root, path string) (string, bool) {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > textLimit {
		return "", false
	}
	file, err := root.OpenFile(name, readFlags, 0)
	if err != nil {
		return "", false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := io.ReadAll(io.LimitReader(file, textLimit+1))
	if err != nil || len(data) > textLimit || !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return "", false
	}
	return string(data), true
}

// visible makes a text of several lines safe to show: characters that could
// disturb what is written after them are shown as pictures of them, so that a
// change of one is seen. Tabs and ends of lines stay.
func visible(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n':
			return c
		case c < 0x20:
			return 0x2400 + c
		case c == 0x7f:
			return 0x2421
		case monitor.Unprintable(c):
			return utf8.RuneError
		}
		return c
	}, s)
}

// absent reports whether nothing lies at a path.
func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
