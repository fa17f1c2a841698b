package share

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// otherUsers are those who have a session, also one that is disconnected: their
// programs go on. Services have the first one, and some show the login screen or wait
// for somebody. Source: WTS_CONNECTSTATE_CLASS in the Windows documentation.
func otherUsers() (map[string]bool, error) {
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
	found := map[string]bool{}
	for _, s := range unsafe.Slice(first, n) {
		switch s.State {
		case windows.WTSConnected, windows.WTSIdle, windows.WTSListen:
		default:
			if s.SessionID != 0 && s.SessionID != mine {
				found[fmt.Sprintf("session %d", s.SessionID)] = true
			}
		}
	}
	return found, nil
}
