package registry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

// maxSize is how large a registry may be, in bytes. A thousand instances take
// half a megabyte; what is larger is not read.
const maxSize = 8 << 20

// maxAside is how many unreadable registries are kept.
const maxAside = 5

// errNotRegular: a link leads to something that is no file, as for users who
// want no registry and link it to /dev/null.
var errNotRegular = errors.New("it is a link to something that is not a regular file")

// target is where the registry lies when symbolic links are followed. What it
// names need not exist.
func target(path string) (string, error) {
	for range 40 { // as many as Linux follows
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		next, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", errors.New("too many symbolic links")
}

// read reads what lies at path, nothing when nothing does. The error is
// errCorrupt for what cannot be a registry.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// To open a pipe could wait for ever.
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file", errCorrupt)
	}
	// Nobody who writes meanwhile is to find it in his way.
	file, err := plainfile.OpenShared(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("%w: it is larger than %s", errCorrupt, monitor.Memory(maxSize))
	}
	return data, nil
}

// replace writes data to path so that whoever reads sees the old content or
// the new one, whole. The file keeps its mode and, where we may say so, its
// owner; a new one is for its owner alone. After an error the old content
// stands, and nothing lies beside it. The info is that of the new file.
func replace(path string, data []byte, write func(*os.File, []byte) error) (info fs.FileInfo, err error) {
	old, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// What one that was killed has left; it is tried again with the next.
	_ = plainfile.Sweep(path)
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it may be closed already
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := write(file, data); err != nil {
		return nil, err
	}
	if old != nil {
		keepOwner(file, old)
		if err := file.Chmod(old.Mode().Perm()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
	}
	if info, err = file.Stat(); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return info, plainfile.Rename(file.Name(), path)
}

// writeSynced writes and waits until the disk has it: a rename may reach the
// disk before the content.
func writeSynced(file *os.File, data []byte) error {
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}

// setAside moves what lies at path out of the way and returns where to. It
// never deletes what a user may want back, with one exception: of more than
// maxAside, the newest gives way, because the first ones hold what was there
// before something began to write nonsense again and again.
func setAside(path string, now time.Time) (aside, lost string, err error) {
	prefix := path + ".corrupt-"
	dir, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", "", err
	}
	var kept []string
	for _, e := range dir {
		if strings.HasPrefix(e.Name(), filepath.Base(prefix)) {
			kept = append(kept, e.Name())
		}
	}
	slices.Sort(kept)
	if len(kept) >= maxAside {
		lost = filepath.Join(filepath.Dir(path), kept[len(kept)-1])
		if err := os.Remove(lost); err != nil {
			return "", "", fmt.Errorf("it cannot be set aside, because %d others are: %w", len(kept), err)
		}
	}
	aside, err = plainfile.SetAside(path, now)
	return aside, lost, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
