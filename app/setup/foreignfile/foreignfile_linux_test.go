package foreignfile

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// without takes capabilities from this test, so that what the superuser is not
// allowed can be tried: a thread has its own, and ends with the test.
func without(t *testing.T, capabilities ...int) {
	t.Helper()
	runtime.LockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		t.Fatal(err)
	}
	for _, c := range capabilities {
		caps[0].Effective &^= 1 << c
	}
	if err := unix.Capset(&header, &caps[0]); err != nil {
		t.Fatal(err)
	}
}

// A file that would not stay its owner's is not replaced.
func TestOwner(t *testing.T) {
	without(t, unix.CAP_CHOWN)
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, "old", 0o644)
	f := read(t, path)
	mine := f.kept
	for _, c := range []attributes{{uid: mine.uid + 12345, gid: mine.gid, names: 1}, {uid: mine.uid, gid: mine.gid + 12345, names: 1}} {
		f.kept = c
		err := f.Replace([]byte("new"))
		_, backupErr := f.Backup()
		for _, err := range []error{err, backupErr} {
			if !errors.Is(err, errOwner) {
				t.Errorf("%+v: %v", c, err)
			}
			says(t, err, path, "as its owner")
		}
		if got := content(t, path); got != "old" {
			t.Errorf("holds %q", got)
		}
		lies(t, dir, "settings.json")
	}
}

// What belongs to others stays theirs, where the system allows that at all: the
// tests run as the superuser, who in a namespace of his own knows only himself.
func TestOwnerStays(t *testing.T) {
	path := filepath.Join(temporary(t), "settings.json")
	put(t, path, "old", 0o640)
	uid, gid := os.Geteuid(), os.Getegid()
	if os.Chown(path, 12345, 12346) == nil {
		uid, gid = 12345, 12346
	}
	f := read(t, path)
	backup, err := f.Backup()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Replace([]byte("new")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, backup} {
		if f := read(t, path); f.kept.uid != uid || f.kept.gid != gid || f.Mode != 0o640 {
			t.Errorf("%s: %+v", path, f.kept)
		}
	}
}

// accessList is an access list as in acl(5): of the owner, of one user besides,
// who is ourselves, as others are not known in a namespace, of the group, the
// mask and of others.
func accessList(user, group, mask uint16) string {
	const nobody = 1<<32 - 1
	list := binary.LittleEndian.AppendUint32(nil, 2) // the version
	for _, e := range []struct {
		tag, may uint16
		id       uint32
	}{{1, 6, nobody}, {2, user, uint32(os.Geteuid())}, {4, group, nobody}, {16, mask, nobody}, {32, 0, nobody}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.may)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	return string(list)
}

// Who may use a file are the same afterwards: those that its access list names,
// and not those that the directory names for new files.
func TestAccessListStays(t *testing.T) {
	listed, inherits := accessList(4, 0, 4), accessList(6, 4, 6)
	for name, want := range map[string]string{"listed": listed, "not listed": ""} {
		dir := temporary(t)
		path := filepath.Join(dir, "settings.json")
		put(t, path, "old", 0o640)
		if want != "" {
			if err := unix.Setxattr(path, accessListName, []byte(want), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Setxattr(dir, "system.posix_acl_default", []byte(inherits), 0); err != nil {
			t.Fatal(err)
		}
		f := read(t, path)
		backup, err := f.Backup()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Replace([]byte("new")); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{path, backup} {
			if f := read(t, path); f.kept.access != want || f.Mode != 0o640 {
				t.Errorf("%s: %s: %x, %v", name, path, f.kept.access, f.Mode)
			}
		}

		// One that is given meanwhile counts as a change, and one that cannot be
		// given refuses.
		f = read(t, path)
		if err := unix.Setxattr(path, accessListName, []byte(inherits), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Replace([]byte("newer")); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		f = read(t, path)
		f.kept.access = "no list"
		if err := f.Replace([]byte("newer")); !errors.Is(err, errOwner) || content(t, path) != "new" {
			t.Errorf("%s: %v", name, err)
		}
		lies(t, dir, "settings.json", "settings.json.lamplighter-backup")
	}
}

func TestNotPermitted(t *testing.T) {
	without(t, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH)
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, "old", 0)
	_, err := Read(path)
	if !errors.Is(err, unix.EACCES) {
		t.Error(err)
	}
	says(t, err, path, "permission denied")

	// Others may write it, but we may not.
	put2 := func(mode os.FileMode) *File {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return read(t, path)
	}
	f := put2(0o466)
	for _, err := range []error{f.Writable(), f.Replace([]byte("new"))} {
		if !errors.Is(err, errReadOnly) {
			t.Error(err)
		}
	}

	f = put2(0o600)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, backupErr := f.Backup()
	for _, err := range []error{f.Writable(), f.Replace([]byte("new")), backupErr} {
		if !errors.Is(err, unix.EACCES) {
			t.Error(err)
		}
		says(t, err, path, "permission denied")
	}
	lies(t, dir, "settings.json")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("holds %q", got)
	}

	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.Is(err, unix.EACCES) {
		t.Error(err)
	}
	if err := f.Replace([]byte("new")); err == nil {
		t.Error("it was replaced in a closed directory")
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk mounts a small disk, in the namespace that build/isolated.sh has
// made.
func TestFullDisk(t *testing.T) {
	dir := temporary(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Fatalf("mounting a small disk: %v; run the tests in build/isolated.sh", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "settings.json")
	put(t, path, "old", 0o600)
	big := []byte(strings.Repeat("x", 80<<10)) // of which a part fits
	f := read(t, path)
	check := func(want error, errs ...error) {
		t.Helper()
		for _, err := range errs {
			if !errors.Is(err, want) {
				t.Error(err)
			}
			says(t, err, path, want.Error())
		}
		if got := content(t, path); got != "old" {
			t.Errorf("holds %q", got)
		}
	}
	check(unix.ENOSPC, f.Replace(big))
	lies(t, dir, "settings.json")

	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(ballast, strings.NewReader(string(big))); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	_, err = f.Backup()
	check(unix.ENOSPC, f.Replace([]byte("new")), err)
	lies(t, dir, "ballast", "settings.json")
	if err := errors.Join(ballast.Close(), os.Remove(ballast.Name())); err != nil {
		t.Fatal(err)
	}

	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{f.Writable(), f.Replace([]byte("new"))} {
		if !errors.Is(err, errReadOnly) {
			t.Error(err)
		}
	}
	_, err = f.Backup()
	check(unix.EROFS, err)
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace([]byte("new")); err != nil || content(t, path) != "new" {
		t.Error(err)
	}
}
