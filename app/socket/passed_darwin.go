package socket

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// passedFiles are the sockets that launchd has made for our job under our name.
// libSystem is called as golang.org/x/sys/unix does it, which needs no C
// compiler.
func passedFiles() ([]*os.File, error) {
	name, err := syscall.BytePtrFromString(inheritedName)
	if err != nil {
		return nil, err
	}
	var (
		list  *int32 // made by malloc, and ours: a few bytes, once in a process
		count uintptr
	)
	code, _, _ := syscall_syscall(launchActivateSocketTrampoline,
		uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&count)))
	switch err := syscall.Errno(code); {
	case errors.Is(err, syscall.ESRCH), errors.Is(err, syscall.ENOENT):
		return nil, nil // launchd did not start us, or our job has no such socket
	case code != 0:
		return nil, os.NewSyscallError("launch_activate_socket", err)
	}
	var files []*os.File
	for _, fd := range unsafe.Slice(list, count) {
		syscall.CloseOnExec(int(fd))
		files = append(files, os.NewFile(uintptr(fd), inheritedName))
	}
	return files, nil
}

// launchActivateSocketTrampoline is set in passed_darwin.s.
var launchActivateSocketTrampoline uintptr

//go:cgo_import_dynamic libc_launch_activate_socket launch_activate_socket "/usr/lib/libSystem.B.dylib"

//go:linkname syscall_syscall syscall.syscall
func syscall_syscall(fn, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno)
