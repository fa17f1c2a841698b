package foreignfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestReadAndReplace(t *testing.T) {
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, "\xef\xbb\xbf{\r\n}\x00", 0o600)
	f := read(t, path)
	if f.Path != path || f.Target != path || string(f.Content) != "\xef\xbb\xbf{\r\n}\x00" || f.Writable() != nil {
		t.Errorf("%+v, %v", f, f.Writable())
	}
	if err := f.Replace([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "new" {
		t.Errorf("holds %q", got)
	}
	lies(t, dir, "settings.json")
	if err := f.Replace([]byte("newer")); !errors.Is(err, ErrChanged) {
		t.Errorf("what was replaced is replaced again without being read: %v", err)
	}
	if err := read(t, path).Replace(nil); err != nil || content(t, path) != "" {
		t.Errorf("%v: holds %q", err, content(t, path))
	}
	if f := read(t, path); len(f.Content) != 0 {
		t.Errorf("of an empty file there is %q", f.Content)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := temporary(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("large"), "", 0o600)
	put(t, at("just"), "", 0o600)
	err := errors.Join(os.Truncate(at("large"), maxSize+1), os.Truncate(at("just"), maxSize), os.Mkdir(at("directory"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"missing": fs.ErrNotExist, "no/where": fs.ErrNotExist, "large": errTooLarge, "directory": errNotPlain,
	} {
		if _, err := Read(at(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		} else {
			says(t, err, at(name), "")
		}
	}
	f := read(t, at("just"))
	if len(f.Content) != maxSize {
		t.Errorf("%d bytes were read", len(f.Content))
	}
	says(t, f.Replace(make([]byte, maxSize+1)), at("just"), errTooLarge.Error())
	if got := len(content(t, at("just"))); got != maxSize {
		t.Errorf("%d bytes are left", got)
	}
}

func TestReadOnly(t *testing.T) {
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, "old", 0o444)
	defer os.Chmod(path, 0o600) // for Windows, which could not remove it
	f := read(t, path)
	for _, err := range []error{f.Writable(), f.Replace([]byte("new"))} {
		if !errors.Is(err, errReadOnly) {
			t.Error(err)
		}
		says(t, err, path, "it is read-only")
	}
	if got := content(t, path); got != "old" {
		t.Errorf("holds %q", got)
	}
	lies(t, dir, "settings.json")
}

func TestHardLinks(t *testing.T) {
	dir := temporary(t)
	path, other := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	put(t, path, "old", 0o600)
	before := read(t, path)
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	f := read(t, path)
	for _, err := range []error{f.Writable(), f.Replace([]byte("new"))} {
		if !errors.Is(err, errLinked) {
			t.Error(err)
		}
		says(t, err, path, "hard links")
	}
	if err := before.Replace([]byte("new")); !errors.Is(err, ErrChanged) {
		t.Errorf("linked since it was read: %v", err)
	}
	if content(t, path) != "old" || content(t, other) != "old" {
		t.Error("one of them has changed")
	}
	lies(t, dir, "a.json", "b.json")
}

// What is written by others between reading and renaming stays.
func TestChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"another content of the same size": func(path string) error { return os.WriteFile(path, []byte("0ther"), 0o600) },
		"a longer content":                 func(path string) error { return os.WriteFile(path, []byte("other and more"), 0o600) },
		"gone":                             os.Remove,
		"a directory":                      func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"too large":                        func(path string) error { return os.Truncate(path, maxSize+1) },
		"another file with the same content": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("other"), 0o600), os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, when := range []string{"before", "while it is written"} {
				dir := temporary(t)
				path := filepath.Join(dir, "settings.json")
				put(t, path, "other", 0o600)
				f := read(t, path)
				if when == "before" {
					if err := change(path); err != nil {
						t.Fatal(err)
					}
				} else {
					f.write = func(file *os.File, content []byte) error { return errors.Join(write(file, content), change(path)) }
				}
				there := names(t, dir)
				err := f.Replace([]byte("new"))
				if !errors.Is(err, ErrChanged) {
					t.Errorf("%s: %v", when, err)
				}
				says(t, err, path, "try again")
				if name == "gone" {
					there = nil
				}
				lies(t, dir, there...)
				if text, err := os.ReadFile(path); err == nil && string(text) == "new" {
					t.Errorf("%s: it was written over", when)
				}
			}
		})
	}
}

// TestFaults: what cannot be written leaves the old file as it was, and nothing
// beside it.
func TestFaults(t *testing.T) {
	for name, fault := range map[string]func(*os.File, []byte) error{
		"nothing written": func(*os.File, []byte) error { return syscall.ENOSPC },
		"half written": func(file *os.File, data []byte) error {
			_, err := file.Write(data[:len(data)/2])
			return errors.Join(err, syscall.ENOSPC)
		},
	} {
		dir := temporary(t)
		path := filepath.Join(dir, "settings.json")
		put(t, path, "old content", 0o600)
		f := read(t, path)
		f.write = fault
		err := f.Replace([]byte("new content"))
		_, backupErr := f.Backup()
		for _, err := range []error{err, backupErr} {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: %v", name, err)
			}
			says(t, err, path, "")
		}
		lies(t, dir, "settings.json")
		if got := content(t, path); got != "old content" {
			t.Errorf("%s: it holds %q", name, got)
		}
		f.write = write
		if err := f.Replace([]byte("new content")); err != nil || content(t, path) != "new content" {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
}

func TestBackup(t *testing.T) {
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, "one", 0o600)
	first, err := read(t, path).Backup()
	if err != nil || first != path+".lamplighter-backup" {
		t.Fatal(first, err)
	}
	// Whatever has the name keeps it.
	if err := os.Mkdir(path+".lamplighter-backup-2", 0o700); err != nil {
		t.Fatal(err)
	}
	f := read(t, path)
	put(t, path, "two", 0o600)
	third, err := f.Backup()
	if err != nil || third != path+".lamplighter-backup-3" {
		t.Fatal(third, err)
	}
	for _, backup := range []string{first, third} {
		if got := content(t, backup); got != "one" {
			t.Errorf("%s holds %q", backup, got)
		}
	}
	lies(t, dir, "settings.json", "settings.json.lamplighter-backup", "settings.json.lamplighter-backup-2", "settings.json.lamplighter-backup-3")

	for _, want := range []string{"", "on", "onee", "two"} {
		err := RemoveBackup(first, []byte(want))
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%q: %v", want, err)
		}
		says(t, err, first, "is kept")
	}
	says(t, RemoveBackup(path+".lamplighter-backup-2", nil), path+".lamplighter-backup-2", "a directory")
	for range 2 { // the second time it is gone already
		if err := RemoveBackup(first, []byte("one")); err != nil {
			t.Error(err)
		}
	}
	lies(t, dir, "settings.json", "settings.json.lamplighter-backup-2", "settings.json.lamplighter-backup-3")
	if again, err := read(t, path).Backup(); err != nil || again != first {
		t.Error(again, err)
	}
}

// A backup has its content from the moment on at which it has its name. Where that
// is not possible it is made all the same.
func TestBackupIsNeverEmpty(t *testing.T) {
	for name, fault := range map[string]error{"links": nil, "no links": syscall.EPERM} {
		dir := temporary(t)
		path := filepath.Join(dir, "settings.json")
		put(t, path, "one", 0o600)
		put(t, path+".lamplighter-backup", "mine", 0o600)
		f := read(t, path)
		f.link = func(from, to string) error {
			if _, err := os.Lstat(to); err == nil && to != path+".lamplighter-backup" {
				t.Errorf("%s: %s is there before its content", name, to)
			}
			if fault != nil {
				return fault
			}
			return os.Link(from, to)
		}
		backup, err := f.Backup()
		if err != nil || backup != path+".lamplighter-backup-2" || content(t, backup) != "one" || read(t, backup).kept.names != 1 {
			t.Error(name, backup, err)
		}
		lies(t, dir, "settings.json", "settings.json.lamplighter-backup", "settings.json.lamplighter-backup-2")
		if got := content(t, path+".lamplighter-backup"); got != "mine" {
			t.Errorf("%s: another's holds %q", name, got)
		}
	}
}

// What one that was killed has left is removed when it is nobody's any more, and
// nothing that is not ours.
func TestSweep(t *testing.T) {
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, "old", 0o600)
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".settings.json.lamplighter.12.tmp", ".settings.json.12.tmp", ".other.json.lamplighter.12.tmp", "settings.json.tmp"} {
		put(t, filepath.Join(dir, name), "", 0o600)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, ".settings.json.lamplighter.new.tmp"), "", 0o600)
	if err := read(t, path).Replace([]byte("new")); err != nil {
		t.Fatal(err)
	}
	want := []string{".other.json.lamplighter.12.tmp", ".settings.json.12.tmp", ".settings.json.lamplighter.new.tmp", "settings.json", "settings.json.tmp"}
	slices.Sort(want)
	lies(t, dir, want...)
}
