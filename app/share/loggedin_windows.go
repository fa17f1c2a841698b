package share

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// wtsUserName is WTSUserName of wtsapi32.h.
const wtsUserName = 5

// otherUsers are those who have a session, also one that is disconnected: their
// programs go on. Source: "Remote Desktop Services" of the Windows documentation.
func otherUsers() (map[string]bool, error) {
	query := windows.NewLazySystemDLL("wtsapi32.dll").NewProc("WTSQuerySessionInformationW")
	if err := query.Find(); err != nil {
		return nil, err
	}
	var first *windows.WTS_SESSION_INFO
	var n uint32
	if err := windows.WTSEnumerateSessions(0, 0, 1, &first, &n); err != nil {
		return nil, os.NewSyscallError("WTSEnumerateSessions", err)
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(first)))
	var mine uint32
	if err := windows.ProcessIdToSessionId(windows.GetCurrentProcessId(), &mine); err != nil {
		return nil, fmt.Errorf("our own session: %w", err)
	}
	me := userOf(query, mine)
	found := map[string]bool{}
	for _, s := range unsafe.Slice(first, n) {
		if name := userOf(query, s.SessionID); s.SessionID != mine && name != "" && !strings.EqualFold(name, me) {
			found[name] = true
		}
	}
	return found, nil
}

// userOf is who has a session, "" for nobody: services have one, too.
func userOf(query *windows.LazyProc, session uint32) string {
	var text *uint16
	var size uint32
	ok, _, _ := query.Call(0, uintptr(session), wtsUserName, uintptr(unsafe.Pointer(&text)), uintptr(unsafe.Pointer(&size)))
	if ok == 0 || text == nil {
		return ""
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(text)))
	return windows.UTF16PtrToString(text)
}
