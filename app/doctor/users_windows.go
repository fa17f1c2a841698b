package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// wtsUserName is WTSUserName of wtsapi32.h.
const wtsUserName = 5

var wtsQuery = windows.NewLazySystemDLL("wtsapi32.dll").NewProc("WTSQuerySessionInformationW")

// otherUsers are the people other than us who have a session.
//
// Source: "Remote Desktop Services" of the Windows documentation.
func otherUsers(context.Context) ([]string, error) {
	var first *windows.WTS_SESSION_INFO
	var n uint32
	if err := windows.WTSEnumerateSessions(0, 0, 1, &first, &n); err != nil {
		return nil, os.NewSyscallError("WTSEnumerateSessions", err)
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(first)))
	if err := wtsQuery.Find(); err != nil {
		return nil, err
	}
	var mine uint32
	if err := windows.ProcessIdToSessionId(windows.GetCurrentProcessId(), &mine); err != nil {
		return nil, fmt.Errorf("our own session: %w", err)
	}
	me := userOfSession(mine)
	var names []string
	for _, s := range unsafe.Slice(first, n) {
		if s.SessionID == mine {
			continue
		}
		if name := userOfSession(s.SessionID); name != "" && !strings.EqualFold(name, me) {
			names = append(names, name)
		}
	}
	return names, nil
}

// userOfSession is who has a session, "" for nobody: services have one, too.
func userOfSession(id uint32) string {
	var text *uint16
	var size uint32
	ok, _, _ := wtsQuery.Call(0, uintptr(id), wtsUserName, uintptr(unsafe.Pointer(&text)), uintptr(unsafe.Pointer(&size)))
	if ok == 0 || text == nil {
		return ""
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(text)))
	return windows.UTF16PtrToString(text)
}
