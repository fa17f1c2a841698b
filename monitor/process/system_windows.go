package process

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/windows"

	"lamplighter/monitor"
)

// filetimeUnit is the unit of FILETIME and of process times.
const filetimeUnit = 100 * time.Nanosecond

// open opens a process: while it is held the pid is not reused.
func open(pid int) (windows.Handle, error) {
	if pid <= 0 || int64(pid) > math.MaxUint32 {
		return 0, gone(pid)
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return 0, gone(pid)
	}
	if err != nil {
		return 0, fmt.Errorf("opening process %d: %w", pid, err)
	}
	if isOver(uintptr(h)) {
		windows.CloseHandle(h)
		return 0, gone(pid)
	}
	return h, nil
}

func filetime(t windows.Filetime) uint64 {
	return uint64(t.HighDateTime)<<32 | uint64(t.LowDateTime)
}

// statOf reads identity, parent and CPU time of an open process.
func statOf(pid int, h windows.Handle) (Stat, error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return Stat{}, fmt.Errorf("reading the times of process %d: %w", pid, err)
	}
	var info windows.PROCESS_BASIC_INFORMATION
	err := windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation,
		unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return Stat{}, fmt.Errorf("reading the parent of process %d: %w", pid, err)
	}
	cpu := time.Duration(min(filetime(kernel)+filetime(user), math.MaxInt64/uint64(filetimeUnit))) * filetimeUnit
	id := monitor.Identity{PID: pid, Start: filetime(created)}
	return Stat{Identity: id, Parent: int(info.InheritedFromUniqueProcessId), Session: -1, CPU: cpu}, nil
}

func everyone() ([]listed, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, fmt.Errorf("taking a snapshot of the processes: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	var all []listed
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		all = append(all, listed{int(entry.ProcessID), int(entry.ParentProcessID), windows.UTF16ToString(entry.ExeFile[:])})
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, fmt.Errorf("reading the snapshot of the processes: %w", err)
	}
	return all, nil
}

// Read reads who a process is. Args is empty for processes of other users, whose memory
// we may not read.
func Read(pid int) (Info, error) {
	h, err := open(pid)
	if err != nil {
		return Info{}, err
	}
	defer windows.CloseHandle(h)
	s, err := statOf(pid, h)
	if err != nil {
		return Info{}, err
	}
	held := &process.Process{Pid: int32(pid)} // nobody takes its place while h is open
	exe, _ := held.Exe()
	line, _ := held.Cmdline()
	args, err := windows.DecomposeCommandLine(line)
	if err != nil {
		args = []string{line}
	}
	name := strings.TrimSuffix(exe[strings.LastIndexByte(exe, '\\')+1:], ".exe")
	return Info{Identity: s.Identity, Parent: s.Parent, Name: name, Exe: exe, Args: args}, nil
}

// ReadStat reads the current state of any process that we may open.
func ReadStat(pid int) (Stat, error) {
	h, err := open(pid)
	if err != nil {
		return Stat{}, err
	}
	defer windows.CloseHandle(h)
	return statOf(pid, h)
}

// StartedAt is the wall-clock time at which the process started, for showing
// only. The process need not exist any more.
func StartedAt(id monitor.Identity) time.Time {
	ft := windows.Filetime{LowDateTime: uint32(id.Start), HighDateTime: uint32(id.Start >> 32)}
	return time.Unix(0, ft.Nanoseconds())
}

// SameUser reports whether a process runs as our user: the user of its token is
// that of ours. The error is fs.ErrPermission when we may not ask, which is so
// for most processes of others.
func SameUser(pid int) (bool, error) {
	h, err := open(pid)
	if err != nil {
		return false, err
	}
	defer windows.CloseHandle(h)
	var token windows.Token
	var user *windows.Tokenuser
	if err = windows.OpenProcessToken(h, windows.TOKEN_QUERY, &token); err == nil {
		defer token.Close()
		user, err = token.GetTokenUser()
	}
	if err != nil {
		return false, fmt.Errorf("looking for the owner of process %d: %w", pid, err)
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return false, fmt.Errorf("looking for our own user: %w", err)
	}
	return user.User.Sid.Equals(me.User.Sid), nil
}

// BootID is a text that differs from boot to boot and stays the same within
// one: pids of an earlier one mean nothing. Setting the clock moves the boot time
// and its bias alike, so their difference does not change.
func BootID() (string, error) {
	// SYSTEM_TIMEOFDAY_INFORMATION of ntexapi.h begins with the boot time; its bias is the
	// fifth number.
	var t [6]int64
	err := windows.NtQuerySystemInformation(windows.SystemTimeOfDayInformation, unsafe.Pointer(&t), uint32(unsafe.Sizeof(t)), nil)
	if err != nil {
		return "", fmt.Errorf("reading the id of this boot: %w", err)
	}
	return strconv.FormatInt(t[0]-t[4], 16), nil
}

var (
	terminateSignal           = os.Kill
	suspendSignal   os.Signal = syscall.Signal(-1) // refused with errors.ErrUnsupported, as all but os.Kill are
	continueSignal  os.Signal                      // nothing to do
)

// isOver reports whether a process has ended. Its entry stays as long as anybody
// holds a handle, which means nothing to us.
func isOver(handle uintptr) bool {
	event, err := windows.WaitForSingleObject(windows.Handle(handle), 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

// serviceOf returns the name of the Windows service whose process lies in a tree
// of processes, "" when there is none. Of several services in one process it is
// the first.
//
// Source: EnumServicesStatusEx with SC_ENUM_PROCESS_INFO, which every user may
// ask for.
func serviceOf(_ context.Context, tree []monitor.Identity) (unit string, err error) {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT|windows.SC_MANAGER_ENUMERATE_SERVICE)
	if err != nil {
		return "", fmt.Errorf("connecting to the service manager: %w", err)
	}
	defer windows.CloseServiceHandle(manager)
	// Bytes, because names follow the records, and the garbage collector must
	// not take those for pointers. 64 KiB is what the call fills at most.
	buf := make([]byte, 64<<10)
	var resume uint32
	for {
		var needed, n uint32
		err := windows.EnumServicesStatusEx(manager, windows.SC_ENUM_PROCESS_INFO, windows.SERVICE_WIN32,
			windows.SERVICE_ACTIVE, &buf[0], uint32(len(buf)), &needed, &n, &resume, nil)
		if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
			return "", fmt.Errorf("listing the services: %w", err)
		}
		for _, s := range unsafe.Slice((*windows.ENUM_SERVICE_STATUS_PROCESS)(unsafe.Pointer(&buf[0])), n) {
			isMain := func(id monitor.Identity) bool { return uint32(id.PID) == s.ServiceStatusProcess.ProcessId }
			if s.ServiceStatusProcess.ProcessId != 0 && slices.ContainsFunc(tree, isMain) {
				return windows.UTF16PtrToString(s.ServiceName), nil
			}
		}
		if err == nil || n == 0 {
			return "", nil
		}
	}
}

// tcpTable asks for all TCP sockets.
func tcpTable() ([]tcpEnd, error) { return gopsutilTable() }
