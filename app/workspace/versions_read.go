package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// Versions are those of a workspace, oldest first. Those of an archived one have
// no Path: their trees are in the archive.
func (m *Manager) Versions(ctx context.Context, id string) ([]Version, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r, err := m.find(id)
	if err != nil {
		return nil, err
	}
	return m.versions(r.ID)
}

// versions reads them from the disk, which alone knows.
func (m *Manager) versions(id string) ([]Version, error) {
	if err := m.ownData(id); err != nil {
		return nil, fmt.Errorf("reading the versions of a workspace: %w", err)
	}
	dir := m.versionsPath(id)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the versions of a workspace: %w", err)
	}
	list := []Version{}
	for _, entry := range entries {
		number, ok := versionNumber(entry.Name())
		if !ok || !entry.IsDir() {
			continue
		}
		if v, err := readVersion(filepath.Join(dir, entry.Name()), number); err == nil {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b Version) int { return a.Number - b.Number })
	return list, nil
}

// versionNumber is the number of which name is the directory's.
func versionNumber(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n > 0 && strconv.Itoa(n) == name
}

// nextVersion is the number of the next version: higher than any that there was,
// also when that has gone.
func (m *Manager) nextVersion(id string) (int, error) {
	entries, err := os.ReadDir(m.versionsPath(id))
	if err != nil {
		return 0, err
	}
	last := 0
	for _, entry := range entries {
		if n, ok := versionNumber(entry.Name()); ok {
			last = max(last, n)
		}
	}
	data, err := statefile.Read(m.store.path(dataDir, id, versionLast), 32)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, statefile.ErrTooLarge) {
		return 0, err
	}
	if n, ok := versionNumber(strings.TrimSpace(string(data))); ok {
		last = max(last, n)
	}
	return last + 1, nil
}

// noteNumber writes down the highest number that was ever given to a version.
func (m *Manager) noteNumber(id string, number int) error {
	return statefile.Replace(m.store.path(dataDir, id, versionLast), []byte(strconv.Itoa(number)+"\n"))
}

// describing is what is written down of a version besides its tree.
type describing struct {
	Schema  int       `json:"schema"` // 1
	Number  int       `json:"version"`
	Message string    `json:"message"` // as it was given
	At      time.Time `json:"at"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"size_bytes"`
	Left    int       `json:"left,omitempty"` // how many could not be copied; the first 20 are counted
}

func writeVersion(dir string, f filled) error {
	v := f.Version
	return describingIn(dir).Write(describing{Schema: 1, Number: v.Number, Message: v.Message, At: v.At, Files: v.Files, Bytes: v.Bytes, Left: v.Left})
}

func describingIn(dir string) statefile.File[describing] {
	return statefile.File[describing]{Path: filepath.Join(dir, versionFile), Limit: versionLimit, Broken: errors.New("it is not the description of a version")}
}

// readVersion reads a version. One whose description cannot be read is a version
// nevertheless: its tree is there. The error Is fs.ErrNotExist when it is none.
func readVersion(dir string, number int) (Version, error) {
	v := Version{Number: number, Path: filepath.Join(dir, versionTree)}
	if _, err := os.Lstat(v.Path); errors.Is(err, fs.ErrNotExist) {
		v.Path = ""
	}
	d, err := describingIn(dir).Read()
	if errors.Is(err, fs.ErrNotExist) {
		return Version{}, err
	}
	if err != nil || d.Schema != 1 {
		v.Message = "(its description cannot be read)"
		if info, err := os.Lstat(dir); err == nil {
			v.At = info.ModTime().UTC()
		}
		return v, nil
	}
	v.Message, v.At, v.Files, v.Bytes, v.Left = monitor.Clean(d.Message), d.At, d.Files, d.Bytes, d.Left
	return v, nil
}
