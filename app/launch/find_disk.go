package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lamplighter/app/project"
)

// realDisk is the machine's, for one list of candidates. It passes over what
// does not answer, and over everything when its context ends. It is used by one
// goroutine.
type realDisk struct {
	ctx   context.Context
	looks *project.Looks
	mute  []string // directories that did not answer
	stuck []string // links that lead to what did not

	targets map[string]string // of paths that were asked for
}

func (d *realDisk) file(path string) bool {
	dir := filepath.Dir(path)
	if d.passed(dir) {
		return false
	}
	is, err := project.Look(d.ctx, d.looks, "kind", path, kindOf)
	if err != nil {
		d.pass(err, dir)
		return false
	}
	if is != aLink {
		return is == aFile
	}
	// A link to nothing is something that is broken, and worth saying; so is one
	// that leads to what does not answer.
	leads, err := project.Look(d.ctx, d.looks, "directory", path, isDirectory)
	if err != nil {
		d.stick(err, path)
		return d.ctx.Err() == nil
	}
	return !leads
}

// kind is what lies at a path.
type kind int

const (
	nothing kind = iota
	aFile        // or anything that is neither of these:
	aLink
	aDirectory
)

func kindOf(path string) kind {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nothing
	case info.Mode()&os.ModeSymlink != 0:
		return aLink
	case info.IsDir():
		return aDirectory
	}
	return aFile
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (d *realDisk) names(dir string) []string {
	if d.passed(dir) {
		return nil
	}
	names, err := project.Look(d.ctx, d.looks, "names", dir, namesIn)
	d.pass(err, dir)
	return names
}

func namesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func (d *realDisk) target(path string) string {
	if d.passed(path) || slices.Contains(d.stuck, path) {
		return path
	}
	if real, ok := d.targets[path]; ok {
		return real
	}
	real, err := project.Look(d.ctx, d.looks, "target", path, resolved)
	if err != nil {
		d.stick(err, path)
		return path
	}
	d.targets[path] = real
	return real
}

// ahead looks for a name in each directory at the same time, because the looks
// that follow come one by one.
func (d *realDisk) ahead(dirs []string) {
	errs := make([]error, len(dirs))
	var all sync.WaitGroup
	for i, dir := range dirs {
		if !d.passed(dir) {
			all.Go(func() { _, errs[i] = project.Look(d.ctx, d.looks, "kind", filepath.Join(dir, program), kindOf) })
		}
	}
	all.Wait()
	for i, err := range errs {
		d.pass(err, dirs[i])
	}
}

func (d *realDisk) silent() []string { return d.mute }

// passed reports whether a path lies where nothing answers.
func (d *realDisk) passed(path string) bool {
	return d.ctx.Err() != nil || slices.ContainsFunc(d.mute, func(dir string) bool {
		rest, ok := strings.CutPrefix(path, dir)
		return ok && (rest == "" || os.IsPathSeparator(rest[0]))
	})
}

func (d *realDisk) pass(err error, dir string) {
	if errors.Is(err, project.ErrSilent) && !d.passed(dir) {
		d.mute = append(d.mute, dir)
	}
}

func (d *realDisk) stick(err error, path string) {
	if errors.Is(err, project.ErrSilent) {
		d.stuck = append(d.stuck, path)
	}
}
