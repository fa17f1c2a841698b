//go:build real && linux

package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// command runs a program of the system and fails when that fails.
func command(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, arguments, err, out)
	}
}

// mounted mounts a file system until the test ends. build/isolated.sh has mounts
// of its own.
func mounted(t *testing.T, arguments ...string) string {
	t.Helper()
	dir := newDir(t)
	command(t, "mount", append(arguments, dir)...)
	t.Cleanup(func() { command(t, "umount", "--lazy", dir) })
	return dir
}

// btrfs is a file system of its own that can share blocks.
func btrfs(t *testing.T) string {
	t.Helper()
	image := filepath.Join(newDir(t), "image")
	f, err := os.Create(image)
	if err == nil {
		err = errors.Join(f.Truncate(1<<30), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.btrfs", "-q", image)
	return mounted(t, "-o", "loop", image)
}

// sharesBlocks asks the file system whether all blocks of a file are shared
// (FS_IOC_FIEMAP, linux/fiemap.h).
func sharesBlocks(t *testing.T, path string) bool {
	t.Helper()
	const (
		request    = 0xc020660b // FS_IOC_FIEMAP
		sync       = 0x1        // FIEMAP_FLAG_SYNC
		shared     = 0x2000     // FIEMAP_EXTENT_SHARED
		mostExtent = 32
	)
	var ask struct {
		start, length               uint64
		flags, mapped, count, spare uint32
		extents                     [mostExtent]struct {
			logical, physical, length, spare1, spare2 uint64
			flags, spare3, spare4, spare5             uint32
		}
	}
	ask.length, ask.flags, ask.count = ^uint64(0), sync, mostExtent
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(&ask))); errno != 0 {
		t.Fatal(errno)
	}
	for _, e := range ask.extents[:ask.mapped] {
		if e.flags&shared == 0 {
			return false
		}
	}
	return ask.mapped > 0
}

func free(t *testing.T, dir string) int64 {
	t.Helper()
	var st unix.Statfs_t
	unix.Sync()
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bfree) * st.Bsize
}

func TestRealCloneOnBtrfs(t *testing.T) {
	root := btrfs(t)
	from, to, version := filepath.Join(root, "from"), filepath.Join(root, "to"), filepath.Join(root, "version")
	for _, dir := range []string{from, to, version} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const files, size = 20, 4 << 20
	for i := range files {
		data := bytes.Repeat([]byte(fmt.Sprintf("%08d", i)), size/8)
		if err := os.WriteFile(filepath.Join(from, fmt.Sprint("f", i)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plant(t, from, append([]string{"empty=", "few=bytes", "link->f1", "same==f2"}, everyday...)...)
	want := picture(t, from)
	before := free(t, root)
	copied, err := Copy(t.Context(), from, to, Options{})
	if err != nil || copied.cloned < files {
		t.Fatalf("%+v, %v", copied, err)
	}
	samePicture(t, want, picture(t, to))
	if taken := before - free(t, root); taken > size {
		t.Errorf("it took %d bytes", taken)
	}
	for i := range files {
		if !sharesBlocks(t, filepath.Join(to, fmt.Sprint("f", i))) {
			t.Errorf("f%d shares no blocks", i)
		}
	}
	// A clone is preferred to a link, which would have the times of the older copy.
	kept, err := Copy(t.Context(), to, version, Options{Base: from, ReadOnly: true})
	if err != nil || kept.linked > 1 || kept.cloned < files {
		t.Errorf("%+v, %v", kept, err)
	}
	// What is written to one is not seen in the other.
	if err := os.WriteFile(filepath.Join(to, "f0"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	samePicture(t, want, picture(t, from))
	if err := Remove(t.Context(), to, "", nil); err != nil {
		t.Error(err)
	}
	samePicture(t, want, picture(t, from))
}

func TestRealCopyOntoAnotherFileSystem(t *testing.T) {
	from, to := btrfs(t), newDir(t)
	plant(t, from, everyday...)
	copied, err := Copy(t.Context(), from, to, Options{})
	if err != nil || copied.cloned != 0 {
		t.Errorf("%+v, %v", copied, err)
	}
	samePicture(t, picture(t, from), picture(t, to))
}

// The identity is the same after the file system was mounted anew, where it is
// another device then.
func TestRealIdentityLasts(t *testing.T) {
	image := filepath.Join(newDir(t), "image")
	f, err := os.Create(image)
	if err == nil {
		err = errors.Join(f.Truncate(1<<28), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.btrfs", "-q", image)
	ids := map[string]bool{}
	devices := map[uint64]bool{}
	// Who mounts something gets the lowest number that is free, which may be the
	// same again.
	for try := 0; try < 100 && len(devices) < 2; try++ {
		dir := newDir(t)
		command(t, "mount", "-o", "loop", image, dir)
		inside := filepath.Join(dir, "workspace")
		if try == 0 {
			if err := os.Mkdir(inside, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		id, err := Identity(inside)
		if err != nil {
			t.Error(err)
		}
		d, err := openDir(inside)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.stat()
		if err != nil {
			t.Error(err)
		}
		d.close()
		ids[id], devices[m.id.dev] = true, true
		command(t, "umount", dir)
		mounted(t, "-t", "tmpfs", "tmpfs")
	}
	if len(ids) != 1 || len(devices) != 2 {
		t.Errorf("identities %v on devices %v", ids, devices)
	}
}

func TestRealCopyOntoAFullDisk(t *testing.T) {
	from := newDir(t)
	plant(t, from, append(everyday, many(100)...)...)
	for _, size := range []string{"400k", "900k"} {
		to := mounted(t, "-t", "tmpfs", "-o", "size="+size, "tmpfs")
		at := filepath.Join(to, "copy")
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Copy(t.Context(), from, at, Options{}); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", size, err)
		}
		if err := Remove(t.Context(), at, "", nil); err != nil {
			t.Errorf("on a full disk: %v", err)
		}
		var archive bytes.Buffer
		if _, err := Pack(t.Context(), &archive, map[string]string{"tree": from}, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(t.Context(), &archive, map[string]string{"tree": at}, -1, nil); !errors.Is(err, unix.ENOSPC) || errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v", size, err)
		}
	}
}

func TestRealReadOnlyFileSystem(t *testing.T) {
	dir := mounted(t, "-t", "tmpfs", "tmpfs")
	plant(t, dir, "to/", "full/f=1")
	command(t, "mount", "-o", "remount,ro", dir)
	from := newDir(t)
	plant(t, from, everyday...)
	if _, err := Copy(t.Context(), from, filepath.Join(dir, "to"), Options{}); !errors.Is(err, unix.EROFS) {
		t.Error(err)
	}
	if err := Remove(t.Context(), filepath.Join(dir, "full"), "", nil); !errors.Is(err, unix.EROFS) {
		t.Error(err)
	}
}

// What is mounted in a tree is not removed with it, and nothing else is either.
func TestRealRemoveBelowMounts(t *testing.T) {
	for name, mount := range map[string]func(t *testing.T, outside, at string){
		"another":  func(t *testing.T, _, at string) { command(t, "mount", "-t", "tmpfs", "tmpfs", at) },
		"the same": func(t *testing.T, outside, at string) { command(t, "mount", "--bind", outside, at) },
		"a file": func(t *testing.T, outside, at string) {
			command(t, "mount", "--bind", filepath.Join(outside, "precious"), filepath.Join(at, "file"))
		},
	} {
		for _, where := range []string{"dir/a/b c", "dir"} {
			if name == "a file" && where == "dir" {
				continue
			}
			t.Run(name+" "+where, func(t *testing.T) {
				root := newDir(t)
				plant(t, root, "outside/precious=1", "dir/a/b c/file=2", "dir/f=3")
				outside, at, dir := filepath.Join(root, "outside"), filepath.Join(root, where), filepath.Join(root, "dir")
				mount(t, outside, at)
				under := at
				if name == "a file" {
					under = filepath.Join(at, "file")
				}
				unmount := func() { command(t, "umount", under) }
				t.Cleanup(func() {
					if unmount != nil {
						unmount()
					}
				})
				before := picture(t, root)
				if err := Remove(t.Context(), dir, "", nil); !errors.Is(err, ErrMounted) {
					t.Error(err)
				}
				samePicture(t, before, picture(t, root))

				// On the way it is noticed too, should it be mounted meanwhile.
				if name != "a file" && where != "dir" {
					top, err := openDir(dir)
					if err != nil {
						t.Fatal(err)
					}
					m, err := top.stat()
					if err != nil {
						t.Fatal(err)
					}
					a, err := top.subHere("a", m.id.dev)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := a.subHere("b c", m.id.dev); !isMounted(err) {
						t.Errorf("it was entered: %v", err)
					}
					a.close()
					top.close()
				}
				unmount()
				unmount = nil
				if err := Remove(t.Context(), dir, "", nil); err != nil {
					t.Error(err)
				}
				if data, err := os.ReadFile(filepath.Join(outside, "precious")); err != nil || string(data) != "1" {
					t.Errorf("%q, %v", data, err)
				}
			})
		}
	}
}

func TestRealManyFiles(t *testing.T) {
	root := mounted(t, "-t", "tmpfs", "tmpfs") // a disk would take its time
	from, to := filepath.Join(root, "from"), filepath.Join(root, "to")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	const dirs, each = 100, 100
	for i := range dirs {
		dir := filepath.Join(from, fmt.Sprintf("d%d", i/20), fmt.Sprintf("e%d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range each {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", j)), []byte(fmt.Sprint(i, j)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	copied, err := Copy(t.Context(), from, to, Options{})
	if err != nil || copied.Files != dirs*each+dirs+dirs/20 {
		t.Errorf("%+v, %v", copied, err)
	}
	if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
		t.Errorf("%d differ, %v", len(found), err)
	}
	if n, err := Measure(t.Context(), to, nil); err != nil || n.Files != copied.Files {
		t.Errorf("%+v, %v", n, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	if err := Remove(ctx, to, "", func(c Count) {
		if c.Files > dirs {
			cancel(why)
		}
	}); err != nil && !errors.Is(err, why) {
		t.Error(err)
	}
	if err := Remove(t.Context(), to, "", nil); err != nil {
		t.Error(err)
	}
	gone(t, to)
	if _, err := os.Stat(filepath.Join(from, "d0", "e0", "f0")); errors.Is(err, fs.ErrNotExist) {
		t.Error("the source has gone")
	}
}

func TestRealPackOfHoles(t *testing.T) {
	from, to := newDir(t), newDir(t)
	f, err := os.Create(filepath.Join(from, "disk"))
	if err == nil {
		_, err = f.WriteAt([]byte(strings.Repeat("data", 1<<20)), 50<<20)
	}
	if err == nil {
		err = errors.Join(f.Truncate(100<<20), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	repacked(t, from, to)
	if n, err := Measure(t.Context(), to, nil); err != nil || n.Bytes > 8<<20 {
		t.Errorf("takes %d, %v", n.Bytes, err)
	}
	if found, err := Compare(t.Context(), from, to, nil, 0); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}
