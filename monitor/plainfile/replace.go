package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
)

// Read reads the file at path, as Open opens it, but no more than a byte beyond
// most, so that one that is too large is found out.
func Read(path string, most int64) ([]byte, error) {
	file, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, Error(err, path)
	}
	return data, nil
}

// Replace writes the file at path, with mode 0600, so that whoever reads it sees
// the old content or the new one, whole. It makes the directory where it is
// missing. After an error the old content stands, and nothing lies beside it; what
// one that was killed has left is swept.
func Replace(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Error(err, dir)
	}
	// A rename would put itself in the place of a link or a directory.
	if err := Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// What one that was killed has left; it is tried again with the next.
	_ = Sweep(path)
	file, err := os.CreateTemp(dir, tempPrefix(path)+"*"+tempSuffix) // mode 0600
	if err != nil {
		return fmt.Errorf("%s: %w", monitor.Clean(dir), Cause(err))
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it may be closed already
			err = errors.Join(fmt.Errorf("%s: %w", monitor.Clean(path), Cause(err)), os.Remove(file.Name()))
		}
	}()
	if _, err := file.Write(data); err != nil {
		return err
	}
	if err := file.Sync(); err != nil { // a rename may reach the disk before the content
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return Rename(file.Name(), path)
}

const tempSuffix = ".tmp"

func tempPrefix(path string) string { return "." + filepath.Base(path) + "." }

// Abandoned is the age at which a file that Replace was writing is nobody's any
// more: writing takes moments, also where another process does it.
const Abandoned = time.Hour

// Sweep removes what a Replace of path that was killed has left. The error is
// that of what cannot be removed; what is wrong with the directory Replace says.
func Sweep(path string) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var failed error
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), tempPrefix(path)) || !strings.HasSuffix(entry.Name(), tempSuffix) {
			continue
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= Abandoned {
			failed = errors.Join(failed, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return failed
}

// SetAside moves a file that cannot be read out of the way, and tells where to.
// The error does not name the file.
func SetAside(path string, now time.Time) (aside string, err error) {
	aside = asideOf(path, now)
	if err := Rename(path, aside); err != nil {
		return "", Cause(err)
	}
	return aside, nil
}

// KeepAside is SetAside, except that the file stays at path as well, as a hard
// link, until it is replaced: whatever happens meanwhile, it is not missing. The
// error may be that the disk knows no hard links.
func KeepAside(path string, now time.Time) (aside string, err error) {
	aside = asideOf(path, now)
	if err := os.Link(path, aside); err != nil {
		return "", Cause(err)
	}
	return aside, nil
}

// asideOf is a name beside a file that nothing has.
func asideOf(path string, now time.Time) string {
	prefix := path + ".corrupt-" + now.UTC().Format("20060102T150405.000Z")
	aside := prefix
	for n := 2; exists(aside); n++ {
		aside = prefix + "-" + strconv.Itoa(n)
	}
	return aside
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Cause is a system's error without the names of files, where they are said
// otherwise, or one is only for a moment.
func Cause(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}
