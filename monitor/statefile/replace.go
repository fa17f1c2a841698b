package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Replace writes the file at path, with mode 0600, so that whoever reads it sees
// the old content or the new one, whole. It makes the directory where it is
// missing. After an error the old content stands, and nothing lies beside it; what
// one that was killed has left is swept.
func Replace(path string, data []byte) error { return replace(path, data, ownMode) }

// ownMode is the mode of the files that are ours alone.
const ownMode fs.FileMode = 0o600

func replace(path string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Error(err, dir)
	}
	// A rename would put itself in the place of a link or a directory.
	if err := Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp, err := Beside(path, func(file *os.File) error {
		if mode != ownMode {
			if err := file.Chmod(mode); err != nil {
				return err
			}
		}
		_, err := file.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := Rename(temp, path); err != nil {
		return errors.Join(pathError{path, Cause(err)}, os.Remove(temp))
	}
	return nil
}

// Beside writes a file with mode 0600 beside path and returns its name: renamed, it
// replaces the one at path. It is on the disk then. After an error there is none; what
// one that was killed has left is swept.
func Beside(path string, write func(*os.File) error) (name string, err error) {
	dir := filepath.Dir(path)
	_ = Sweep(path, Abandoned)                                       // it is tried again with the next
	file, err := os.CreateTemp(dir, tempPrefix(path)+"*"+tempSuffix) // mode 0600
	if err != nil {
		return "", pathError{dir, Cause(err)}
	}
	if err = write(file); err == nil {
		err = file.Sync() // a rename may reach the disk before the content
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(pathError{path, Cause(err)}, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

const tempSuffix = ".tmp"

func tempPrefix(path string) string { return "." + filepath.Base(path) + "." }

// Abandoned is the age at which a file that Replace was writing is nobody's any
// more: writing takes moments, also where another process does it.
const Abandoned = time.Hour

// Sweep removes what a Replace of path that was killed has left: what is of that age, 0
// where nobody else can be writing. The error is that of what cannot be removed; what is
// wrong with the directory Replace says.
func Sweep(path string, age time.Duration) error {
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
		if err == nil && info.Mode().IsRegular() && (age == 0 || time.Since(info.ModTime()) >= age) {
			failed = errors.Join(failed, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return failed
}

// Rename is os.Rename. On Windows it waits a moment for whoever has one of the
// files open without letting others rename it, such as a virus scanner.
func Rename(from, to string) error {
	return again(func() error { return os.Rename(from, to) })
}

// RemoveAll is os.RemoveAll. It waits as Rename does.
func RemoveAll(path string) error {
	return again(func() error { return os.RemoveAll(path) })
}
