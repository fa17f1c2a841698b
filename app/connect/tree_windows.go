package main

import (
	"errors"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is the server with everything that came of it: what is in one job.
type tree struct {
	first        proc
	process, job windows.Handle
}

func start(o options, out *os.File) (*tree, error) {
	command := o.command
	fail := func(err error) (*tree, error) { return nil, cannot("start", command[0], err) }
	job, err := newJob()
	if err != nil {
		return fail(err)
	}
	info, err := create(command, out)
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

// create makes a process that does not run yet. It inherits the keeper's
// standard input and out, and nothing else.
func create(command []string, out *os.File) (info windows.ProcessInformation, err error) {
	program, err := windows.UTF16PtrFromString(command[0])
	if err != nil {
		return info, err
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(command))
	if err != nil {
		return info, err
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		return info, err
	}
	defer in.Close()
	handles := []windows.Handle{windows.Handle(in.Fd()), windows.Handle(out.Fd())}
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
	err = list.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles[0]), uintptr(len(handles))*unsafe.Sizeof(handles[0]))
	if err != nil {
		return info, err
	}
	startup := windows.StartupInfoEx{ProcThreadAttributeList: list.List()}
	startup.Cb = uint32(unsafe.Sizeof(startup))
	startup.Flags = windows.STARTF_USESTDHANDLES
	startup.StdInput, startup.StdOutput, startup.StdErr = handles[0], handles[1], handles[1]
	const flags = windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.EXTENDED_STARTUPINFO_PRESENT
	err = windows.CreateProcess(program, line, nil, nil, true, flags, nil, nil, &startup.StartupInfo, &info)
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
