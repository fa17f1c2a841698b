package process

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"

	"lamplighter/monitor"
)

// ServiceOf returns the name of the Windows service whose process lies in a tree
// of processes, "" when there is none. Of several services in one process it is
// the first.
//
// Source: EnumServicesStatusEx with SC_ENUM_PROCESS_INFO, which every user may
// ask for.
func ServiceOf(ctx context.Context, tree []monitor.Identity) (unit string, err error) {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT|windows.SC_MANAGER_ENUMERATE_SERVICE)
	if err != nil {
		return "", fmt.Errorf("connecting to the service manager: %w", err)
	}
	defer windows.CloseServiceHandle(manager)
	in := make(map[uint32]bool, len(tree))
	for _, id := range tree {
		in[uint32(id.PID)] = true
	}
	// Bytes, because names follow the records, and the garbage collector must
	// not take those for pointers. 64 KiB is what the call fills at most.
	buf := make([]byte, 64<<10)
	var resume uint32
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		var needed, n uint32
		err := windows.EnumServicesStatusEx(manager, windows.SC_ENUM_PROCESS_INFO, windows.SERVICE_WIN32,
			windows.SERVICE_ACTIVE, &buf[0], uint32(len(buf)), &needed, &n, &resume, nil)
		if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
			return "", fmt.Errorf("listing the services: %w", err)
		}
		for _, s := range unsafe.Slice((*windows.ENUM_SERVICE_STATUS_PROCESS)(unsafe.Pointer(&buf[0])), n) {
			if pid := s.ServiceStatusProcess.ProcessId; pid != 0 && in[pid] {
				return windows.UTF16PtrToString(s.ServiceName), nil
			}
		}
		if err == nil || n == 0 {
			return "", nil
		}
	}
}
