package foreignfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// Replace puts content in the place of the file, with its owner and its mode.
// Links that lead to it stay. The error names the path once and Is ErrChanged
// when the file is no longer what was read, or what Writable says; after any the
// old content stands, and nothing of ours lies beside it. After Replace the File
// is used up: the next one needs to be read.
func (f *File) Replace(content []byte) error {
	if len(content) > maxSize {
		return f.failed(errTooLarge)
	}
	if err := f.Writable(); err != nil {
		return err
	}
	temp, err := f.beside(content)
	if err != nil {
		return f.failed(fmt.Errorf("it cannot be replaced: %w", err))
	}
	if err := rename(temp, f.Target, f.unchanged); err != nil {
		remove(temp)
		return f.failed(fmt.Errorf("it cannot be replaced: %w", statefile.Cause(err)))
	}
	// Where that fails, a loss of power may bring back the old name, with the whole old file.
	_ = statefile.SyncDir(filepath.Dir(f.Target))
	return nil
}

// Backup writes the content that was read to a new file beside Target, with the
// owner and the mode of the file, and returns its path. It is on the disk then.
// The error names the path of the file once; after it there is no backup.
func (f *File) Backup() (path string, err error) {
	temp, err := f.beside(f.Content)
	if err != nil {
		return "", f.failed(fmt.Errorf("no backup can be made beside it: %w", err))
	}
	if path, err = f.moveToFree(temp, f.Target+".lamplighter-backup"); err != nil {
		remove(temp)
		return "", f.failed(fmt.Errorf("no backup can be made beside it: %w", statefile.Cause(err)))
	}
	_ = statefile.SyncDir(filepath.Dir(path))
	return path, nil
}

// moveToFree moves a file to a name that nothing has: name, name-2, …. It has its
// content from the first moment on, except on a disk that knows no hard links,
// where an empty file keeps the name meanwhile.
func (f *File) moveToFree(temp, name string) (path string, err error) {
	path = name
	for n := 2; ; n++ {
		if err = f.link(temp, path); err == nil {
			remove(temp)
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			err = renameNew(temp, path)
		}
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
		path = name + "-" + strconv.Itoa(n)
	}
}

// renameNew moves a file to where nothing lies. The error Is fs.ErrExist when
// something does.
func renameNew(from, to string) error {
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = file.Close(); err == nil {
		err = rename(from, to, func() error { return nil })
	}
	if err != nil {
		remove(to)
	}
	return err
}

// RemoveBackup removes a backup, but only when it holds exactly want. One that is
// not there is removed already. The error names the path once and Is ErrChanged
// when it holds something else.
func RemoveBackup(path string, want []byte) error {
	content, err := statefile.Read(path, int64(len(want)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, statefile.ErrTooLarge), err == nil && string(content) != string(want):
		return fmt.Errorf("%s: the backup is kept, because it is no longer what was put there: %w", monitor.Clean(path), ErrChanged)
	case err != nil:
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return statefile.Error(err, path)
	}
	_ = statefile.SyncDir(filepath.Dir(path))
	return nil
}

// beside writes a file into the directory of Target, with the owner and the mode
// of the file, and returns its path. Nobody else can read it before they are
// those. It is removed by the next one that comes an hour later, if we are
// killed. The error names nothing; after it there is none.
func (f *File) beside(content []byte) (path string, err error) {
	// The name is such that the sweep takes nothing of the program whose file this is.
	path, err = statefile.Beside(f.Target+".lamplighter", func(file *os.File) error {
		if err := f.write(file, content); err != nil {
			return err
		}
		return f.kept.apply(file, f.Mode)
	})
	return path, statefile.Cause(err)
}

func write(file *os.File, content []byte) error {
	_, err := file.Write(content)
	return err
}

// remove removes what we have made, after an error that matters more. What is
// left all the same the next one sweeps.
func remove(path string) { _ = os.Remove(path) }
