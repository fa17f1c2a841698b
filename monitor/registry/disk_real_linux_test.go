//go:build real

package registry

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// diskVariable names the folder in which a child of this test mounts a disk.
const diskVariable = "LAMPLIGHTER_REGISTRY_TEST_DISK"

// TestRealDisk fills a small disk and makes it read-only, in a mount namespace
// of its own.
func TestRealDisk(t *testing.T) {
	if dir := os.Getenv(diskVariable); dir != "" {
		onSmallDisk(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRealDisk$", "-test.v")
	cmd.Env = append(os.Environ(), diskVariable+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestRealDisk")) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func onSmallDisk(t *testing.T, dir string) {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir)
	register(t, f, 7)
	before := content(t, f.path)

	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(ballast, strings.NewReader(strings.Repeat("x", 1<<20)))
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	r := reg(8, 24290)
	if err := put(t.Context(), f, r); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	if got := names(t, dir); got != "ballast "+fileName || content(t, f.path) != before {
		t.Errorf("on a full disk: %s: %s", got, content(t, f.path))
	}
	if err := errors.Join(ballast.Close(), os.Remove(ballast.Name())); err != nil {
		t.Fatal(err)
	}
	register(t, f, 8)

	if err := os.Remove(f.lockPath()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	r = reg(9, 24291)
	if err := put(t.Context(), f, r); !errors.Is(err, unix.EROFS) {
		t.Errorf("on a read-only disk: %v", err)
	}
	if list, err := f.List(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("on a read-only disk: %v, %v", list, err)
	}
}
