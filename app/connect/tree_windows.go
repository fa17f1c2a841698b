package main

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is the server with everything that came of it: what is in one job.
type tree struct {
	first        proc
	process, job windows.Handle
}

func start(c child) (*tree, error) {
	fail := func(err error) (*tree, error) { return nil, cannot("start", c.path, err) }
	if c.report != nil {
		return fail(errors.ErrUnsupported)
	}
	job, err := newJob()
	if err != nil {
		return fail(err)
	}
	info, err := create(c)
	if err != nil {
		windows.CloseHandle(job)
		return fail(err)
	}
	defer windows.CloseHandle(info.Thread)
	var created, exited, kernel, user windows.Filetime
	err = errors.Join(
		windows.AssignProcessToJobObject(job, info.Process), // before it runs, so that nothing escapes
		windows.GetProcessTimes(info.Process, &created, &exited, &kernel, &user))
	if err == nil {
		_, err = windows.ResumeThread(info.Thread)
	}
	if err != nil {
		_ = windows.TerminateProcess(info.Process, endedByUs)
		windows.CloseHandle(info.Process)
		windows.CloseHandle(job)
		return fail(err)
	}
	start := uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	return &tree{proc{pid: int(info.ProcessId), start: start}, info.Process, job}, nil
}

// create makes a process that does not run yet. It inherits nothing but its
// standard handles: ours, or no input and the output that is given. We have no
// console that it could share, so that it would get one of its own, with a window.
func create(c child) (info windows.ProcessInformation, err error) {
	program, err := windows.UTF16PtrFromString(c.path)
	if err != nil {
		return info, err
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(c.command))
	if err != nil {
		return info, err
	}
	input, output, complaints := os.Stdin, os.Stdout, os.Stderr
	const flags = windows.CREATE_SUSPENDED | windows.EXTENDED_STARTUPINFO_PRESENT | windows.CREATE_NO_WINDOW
	if c.out != nil {
		in, err := os.Open(os.DevNull)
		if err != nil {
			return info, err
		}
		defer in.Close()
		input, output, complaints = in, c.out, c.out
	}
	var handles []windows.Handle // without those that are not there, and none twice
	for _, file := range []*os.File{input, output, complaints} {
		if h := windows.Handle(file.Fd()); h != 0 && h != windows.InvalidHandle && !slices.Contains(handles, h) {
			handles = append(handles, h)
		}
	}
	for _, h := range handles {
		if err := windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return info, err
		}
	}
	list, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		return info, err
	}
	defer list.Delete()
	if len(handles) > 0 {
		err = list.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles[0]), uintptr(len(handles))*unsafe.Sizeof(handles[0]))
	}
	if err != nil {
		return info, err
	}
	startup := windows.StartupInfoEx{ProcThreadAttributeList: list.List()}
	startup.Cb = uint32(unsafe.Sizeof(startup))
	startup.Flags = windows.STARTF_USESTDHANDLES
	startup.StdInput, startup.StdOutput, startup.StdErr = windows.Handle(input.Fd()), windows.Handle(output.Fd()), windows.Handle(complaints.Fd())
	err = windows.CreateProcess(program, line, nil, nil, len(handles) > 0, flags, nil, nil, &startup.StartupInfo, &info)
	return info, err
}

// wait waits until there is nothing left, and calls exited when the direct
// child has ended.
func (t *tree) wait(exited func(status string)) {
	if _, err := windows.WaitForSingleObject(t.process, windows.INFINITE); err != nil {
		return
	}
	var code uint32
	_ = windows.GetExitCodeProcess(t.process, &code)
	exited("code " + strconv.FormatUint(uint64(code), 10))
	_ = waitEmpty(t.job) // what lives after an error ends with us
}
