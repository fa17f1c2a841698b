package daemon

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestKeepDescriptors(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	inherited, err := unix.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	keepDescriptors()
	for fd, want := range map[int]int{inherited: unix.FD_CLOEXEC, 2: 0} {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags != want {
			t.Errorf("descriptor %d: flags %d, %v", fd, flags, err)
		}
	}
}
