package tree

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

const powerlessEnv = "LAMPLIGHTER_TREE_POWERLESS"

// powerless runs the test that calls it again without the powers of root, for which
// permissions are nothing, and tells whether this is that run.
func powerless(t *testing.T) bool {
	t.Helper()
	if os.Getenv(powerlessEnv) != "" {
		return true
	}
	ended := make(chan error, 1)
	var out []byte
	go func() {
		// What this thread loses its children lose; it ends with this goroutine.
		runtime.LockOSThread()
		for _, power := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER} {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, power, 0, 0, 0); err != nil && os.Geteuid() == 0 {
				ended <- err
				return
			}
		}
		command := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
		command.Env = append(os.Environ(), powerlessEnv+"=1")
		var err error
		out, err = command.CombinedOutput()
		ended <- err
	}()
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func TestCopyOfTheUnreadable(t *testing.T) {
	if !powerless(t) {
		return
	}
	for _, list := range [][]string{{"0000 f=1"}, {"0000 d/"}, {"0300 d/"}, {"d/f=1", "0400 d/"}} {
		from, to := newDir(t), newDir(t)
		plant(t, from, append(list, "other=1")...)
		if _, err := Copy(t.Context(), from, to, Options{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%q: %v", list, err)
		}
		if _, err := Compare(t.Context(), from, to, nil, 0); list[0] != "0000 f=1" && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%q compared: %v", list, err)
		}
		if n, err := Measure(t.Context(), from, nil); list[0] != "0000 f=1" && (!errors.Is(err, fs.ErrPermission) || n.Files < 2) {
			t.Errorf("%q measured: %v, %v", list, n, err)
		}
	}
	from, to := newDir(t), newDir(t)
	plant(t, from, "f=1")
	if err := os.Chmod(to, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Copy(t.Context(), from, to, Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("into what is read-only: %v", err)
	}
}

// Directories that forbid their owner to write are copied with what is in them, and so
// are several names of a file there.
func TestCopyOfTheReadOnly(t *testing.T) {
	if !powerless(t) {
		return
	}
	from, to := newDir(t), newDir(t)
	plant(t, from, "a/b/f=1", "a/b/g==a/b/f", "z/h==a/b/f", "0444 r=1", "0555 a/b/", "0555 a/", "0500 z/")
	want := picture(t, from)
	if _, err := Copy(t.Context(), from, to, Options{}); err != nil {
		t.Fatal(err)
	}
	samePicture(t, want, picture(t, to))
	unpacked := newDir(t)
	repacked(t, from, unpacked)
	samePicture(t, want, picture(t, unpacked))
	for _, dir := range []string{from, to, unpacked} {
		if err := Remove(t.Context(), dir, "", nil); err != nil {
			t.Error(err)
		}
		gone(t, dir)
	}
}

func TestRemoveOfTheForbidden(t *testing.T) {
	if !powerless(t) {
		return
	}
	for _, list := range [][]string{
		{"a/b/c/f=1", "0000 a/b/c/", "0000 a/b/", "0000 a/"},
		{"a/b/f=1", "a/g=2", "0555 a/b/", "0500 a/"},
		{"a/b/f=1", "0400 a/b/", "0300 a/"},
		append(many(200), "0555 many/"),
	} {
		root := newDir(t)
		plant(t, root, append(list, "out->/")...)
		if err := Remove(t.Context(), root, "", nil); err != nil {
			t.Error(err)
		}
		gone(t, root)
	}
	// The directory itself may be shut; the one that it lies in is not opened by force.
	root := newDir(t)
	plant(t, root, "in/shut/f=1", "0000 in/shut/", "0500 in/")
	shut := filepath.Join(root, "in", "shut")
	if err := Remove(t.Context(), shut, "", nil); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(root, "in")); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(filepath.Join(root, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Another one that is shut stays as it is.
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), shut, "another", nil); !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
	if info, err := os.Stat(shut); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Remove(t.Context(), shut, "", nil); err != nil {
		t.Error(err)
	}
	gone(t, shut)
}
