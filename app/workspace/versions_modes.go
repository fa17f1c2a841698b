package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"lamplighter/monitor/statefile"
)

// The permission to write is taken from the files of a version. What it was is
// written down: one that most of them had, and each file that had another.
const (
	modesFile  = "modes"
	modesLimit = 1 << 28
	writeBits  = fs.FileMode(0o222)
)

// modes are the permissions that files of a version had before.
type modes struct {
	usual fs.FileMode            // to write, of most files
	files map[string]fs.FileMode // all of them, of those where the usual one is not right; paths with slashes
}

// of is what a file of a version had that has perm now.
func (d modes) of(path string, perm fs.FileMode) fs.FileMode {
	if was, ok := d.files[path]; ok {
		return was
	}
	return perm | d.usual
}

// modesOf compares the permissions of a copy with those of what it was copied
// from. What has gone from there meanwhile gets the usual ones.
func modesOf(from, to string) (modes, error) {
	type pair struct {
		path     string
		was, now fs.FileMode
	}
	var pairs []pair
	count := map[fs.FileMode]int{}
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && errors.Is(err, fs.ErrPermission) {
				return nil // what is in it nobody of us can change either
			}
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(to, path)
		if err != nil {
			return err
		}
		copied, err := d.Info()
		if err != nil {
			return err
		}
		source, err := os.Lstat(filepath.Join(from, name))
		if err != nil || !source.Mode().IsRegular() {
			return nil
		}
		p := pair{filepath.ToSlash(name), source.Mode().Perm(), copied.Mode().Perm()}
		pairs = append(pairs, p)
		count[p.was&writeBits]++
		return nil
	})
	if err != nil {
		return modes{}, err
	}
	d := modes{usual: 0o200, files: map[string]fs.FileMode{}}
	for bits, n := range count {
		if bits != 0 && (n > count[d.usual] || n == count[d.usual] && bits < d.usual) {
			d.usual = bits
		}
	}
	for _, p := range pairs {
		if was := p.now&^writeBits | p.was&writeBits; was != p.now|d.usual {
			d.files[p.path] = was
		}
	}
	return d, nil
}

// text is what is written down: an octal number, a space, a path and a zero byte
// each, since paths may have every other one. The usual permissions have no path.
func (d modes) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%04o \x00", d.usual)
	paths := make([]string, 0, len(d.files))
	for path := range d.files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(&b, "%04o %s\x00", d.files[path], path)
	}
	return b.Bytes()
}

// parseModes reads what text wrote.
func parseModes(data []byte) (modes, error) {
	d := modes{usual: 0o200, files: map[string]fs.FileMode{}}
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if len(entry) == 0 {
			continue
		}
		number, path, ok := bytes.Cut(entry, []byte{' '})
		perm, err := strconv.ParseUint(string(number), 8, 32)
		if !ok || err != nil || perm > 0o777 {
			return modes{}, fmt.Errorf("%q is no permission of a file", entry[:min(len(entry), 100)])
		}
		if len(path) > 0 {
			d.files[string(path)] = fs.FileMode(perm)
			continue
		}
		d.usual = fs.FileMode(perm) & writeBits
	}
	return d, nil
}

func writeModes(dir string, d modes) error {
	return statefile.Replace(filepath.Join(dir, modesFile), d.text())
}

// readModes reads those of a version. Where they cannot be read, its files can be
// written by their owner.
func (m *Manager) readModes(dir string) modes {
	data, err := statefile.Read(filepath.Join(dir, modesFile), modesLimit)
	if err == nil {
		var d modes
		if d, err = parseModes(data); err == nil {
			return d
		}
	}
	m.o.Log.Warn("reading the permissions of a version", "error", err)
	return modes{usual: 0o200}
}

// giveModes gives the files of a copy of a version the permissions that they had.
// Nobody else works in dir.
func giveModes(ctx context.Context, dir string, d modes) error {
	type closed struct {
		path string
		perm fs.FileMode
	}
	var opened []closed
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		perm := info.Mode().Perm()
		if e.IsDir() {
			// It is called before the directory is read.
			if runtime.GOOS == "windows" || perm&0o500 == 0o500 {
				return nil
			}
			opened = append(opened, closed{path, perm})
			return os.Chmod(path, perm|0o700)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if was := d.of(filepath.ToSlash(name), perm); was != perm {
			return os.Chmod(path, was)
		}
		return nil
	})
	for _, c := range slices.Backward(opened) {
		err = errors.Join(err, os.Chmod(c.path, c.perm))
	}
	return err
}
