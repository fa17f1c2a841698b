package process

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInputThatAnswersNobody asks about processes whose standard input is on a
// file system that does not answer any more, as a network drive whose server is
// gone. Where this system cannot have one it is an ordinary file.
func TestInputThatAnswersNobody(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--mount", "--", self}
	if os.Geteuid() != 0 {
		flags = append([]string{"--user", "--map-root-user"}, flags...)
	}
	cmd := exec.Command("unshare", flags...)
	cmd.Env = append(os.Environ(), helperMode+"=hung")
	cmd.Dir = t.TempDir()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	start(t, cmd)
	defer in.Close()
	outer := readPID(t, bufio.NewReader(out))
	server := below(t, outer, "600")
	done := make(chan struct{})
	go func() {
		defer close(done)
		root, client, err := Wrappers(server, isShell)
		if root.PID != outer || client == nil || client.PID != cmd.Process.Pid || err != nil {
			t.Errorf("root %v, want %d; client %+v, %v", root, outer, client, err)
		}
		if holder, _, found, err := FindHolder(server.Identity, root); found || err != nil {
			t.Errorf("holder %+v, %v", holder, err)
		}
		wantAbandoned(t, server.Identity, false)
	}()
	answered := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	defer func() {
		kill(t, cmd.Process.Pid, syscall.SIGKILL) // which ends the file system, and so all waiting
		<-done
	}()
	eventually(t, "all was answered", answered)
}

// helperHung runs a server below a shell. The standard input of both is on a
// file system of this program, which answers no question about the file.
func helperHung() {
	if err := hung(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func hung() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "file")
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("hung", dir, "fuse", unix.MS_NODEV|unix.MS_NOSUID,
			fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", device, os.Getuid(), os.Getgid()))
	}
	if err == nil {
		go serveFUSE(device)
	} else if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", "sleep 600; :")
	cmd.Stdin = os.NewFile(uintptr(fd), path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}

// serveFUSE serves a directory with one file that can be opened, and leaves
// everybody who asks about the file without an answer. Source:
// linux/fuse.h.
func serveFUSE(device int) {
	const (
		lookup, forget, getattr, open, release, initialise, forgetAll = 1, 2, 3, 14, 18, 26, 42

		header = 16 // struct fuse_out_header
		minor  = 31 // of version 7 of the protocol
	)
	order := binary.NativeEndian
	buf := make([]byte, 256<<10)
	for {
		n, err := unix.Read(device, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n < 40 {
			return
		}
		var body []byte
		failed := unix.Errno(0)
		switch order.Uint32(buf[4:]) {
		case forget, forgetAll, getattr:
			continue
		case initialise:
			body = make([]byte, 64)
			order.PutUint32(body[0:], 7)
			order.PutUint32(body[4:], minor)
			order.PutUint32(body[20:], 4096) // max_write
		case lookup:
			body = make([]byte, 128)
			order.PutUint64(body[0:], 2)                      // nodeid
			order.PutUint64(body[16:], 1<<20)                 // how long the name is valid, in seconds; its attributes never are
			order.PutUint64(body[40:], 2)                     // inode
			order.PutUint32(body[40+60:], unix.S_IFREG|0o644) // mode
			order.PutUint32(body[40+64:], 1)                  // links
		case open:
			body = make([]byte, 16)
		case release:
		default:
			failed = unix.ENOSYS
		}
		answer := make([]byte, header, header+len(body))
		order.PutUint32(answer, uint32(header+len(body)))
		order.PutUint32(answer[4:], uint32(-int32(failed)))
		order.PutUint64(answer[8:], order.Uint64(buf[8:]))
		if _, err := unix.Write(device, append(answer, body...)); err != nil {
			return
		}
	}
}

// TestFileByName compares what is known with statx and without.
func TestFileByName(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	open := func(path string) *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o, err := system().openAs(identityOf(t, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	files := []*os.File{r, w, open(os.DevNull), open(os.DevNull), open("/dev/zero"), open(self), open(self), open(t.TempDir())}
	for _, a := range files {
		for _, b := range files {
			var same [2]bool
			for i, look := range []func(int) (file, bool, error){o.file, o.fileByName} {
				x, ok, err := look(int(a.Fd()))
				y, ok2, err2 := look(int(b.Fd()))
				if !ok || !ok2 || err != nil || err2 != nil {
					t.Fatalf("%s, %s: %v, %v", a.Name(), b.Name(), err, err2)
				}
				if same[i] = x == y; x.null != (a.Name() == os.DevNull) {
					t.Errorf("%s: null %v", a.Name(), x.null)
				}
			}
			if same[0] != same[1] || same[0] != (a.Name() == b.Name() || strings.HasPrefix(a.Name(), "|") && strings.HasPrefix(b.Name(), "|")) {
				t.Errorf("%s, %s: the same %v", a.Name(), b.Name(), same)
			}
		}
	}
	for _, look := range []func(int) (file, bool, error){o.file, o.fileByName} {
		if f, ok, err := look(9999); ok || err != nil {
			t.Errorf("closed: %+v, %v", f, err)
		}
		dead := opened{system(), o.pid, -1}
		if f, ok, err := dead.fileByName(0); ok || err == nil {
			t.Errorf("%s: %+v", strconv.Itoa(dead.dir), f)
		}
	}
}
