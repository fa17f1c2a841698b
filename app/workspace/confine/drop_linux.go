package confine

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// drop gives up what our thread could do in its namespaces, and what it could get
// by running a program. The caller has locked itself to the thread and runs a
// program next: the other threads end with that.
func drop(confined bool) error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	for capability := uintptr(0); ; capability++ { // those that root would get
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // the kernel knows no more
		}
		if err != nil {
			return fmt.Errorf("giving up capabilities: %w", err)
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	if !confined {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	keepFromAbstractSockets()
	return keepFromTyping()
}

// keepFromAbstractSockets keeps a job from the sockets of others that are no
// files, such as that of an X server. Before Linux 6.12 that is not possible.
//
// Source: landlock(7), "Scope flags".
func keepFromAbstractSockets() {
	attr := struct{ fs, net, scoped uint64 }{scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	_ = unix.Close(int(fd))
}

// abi is how a kind of processor names its system calls.
type abi struct {
	arch, ioctl             uint32
	compatArch, compatIoctl uint32 // for programs of 32 bits
}

// Source: linux/audit.h, and the tables of system calls.
var abis = map[string]abi{
	"amd64": {unix.AUDIT_ARCH_X86_64, 16, unix.AUDIT_ARCH_I386, 54},
	"arm64": {unix.AUDIT_ARCH_AARCH64, 29, unix.AUDIT_ARCH_ARM, 54},
}

// keepFromTyping keeps a job from putting words into the terminal, which the
// user's shell would take for typed when the job has ended.
//
// Source: TIOCSTI(2const), TIOCLINUX(2const), seccomp(2).
func keepFromTyping() error {
	a, known := abis[runtime.GOARCH]
	if !known {
		return nil
	}
	filter := a.filter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	runtime.KeepAlive(filter)
	if err != nil && !errors.Is(err, unix.EINVAL) { // a kernel without filters
		return fmt.Errorf("keeping the job from typing into the terminal: %w", err)
	}
	return nil
}

// filter is the program that looks at each system call: the struct seccomp_data
// has its number at 0, the ABI at 4, and its second argument at 24.
func (a abi) filter() []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		result = unix.BPF_RET | unix.BPF_K
	)
	return []unix.SockFilter{
		0:  {Code: load, K: 4},
		1:  {Code: equal, K: a.arch, Jf: 3},
		2:  {Code: load, K: 0},
		3:  {Code: least, K: 0x40000000, Jt: 7}, // the x32 ABI
		4:  {Code: equal, K: a.ioctl, Jt: 3, Jf: 7},
		5:  {Code: equal, K: a.compatArch, Jf: 5},
		6:  {Code: load, K: 0},
		7:  {Code: equal, K: a.compatIoctl, Jf: 4},
		8:  {Code: load, K: 24},
		9:  {Code: equal, K: unix.TIOCSTI, Jt: 1},
		10: {Code: equal, K: unix.TIOCLINUX, Jf: 1},
		11: {Code: result, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		12: {Code: result, K: unix.SECCOMP_RET_ALLOW},
	}
}
