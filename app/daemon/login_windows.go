package daemon

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"lamplighter/monitor/process"
)

// tokenStatistics is TOKEN_STATISTICS of winnt.h.
type tokenStatistics struct {
	TokenID            windows.LUID
	AuthenticationID   windows.LUID // of the logon session
	ExpirationTime     int64
	TokenType          uint32
	ImpersonationLevel uint32
	DynamicCharged     uint32
	DynamicAvailable   uint32
	GroupCount         uint32
	PrivilegeCount     uint32
	ModifiedID         windows.LUID
}

// loginID names the logon session: by a number that no other one of this boot
// has, and by the boot, since the numbers begin anew with each.
func loginID() (string, error) {
	var s tokenStatistics
	var n uint32
	err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenStatistics, (*byte)(unsafe.Pointer(&s)), uint32(unsafe.Sizeof(s)), &n)
	if err != nil {
		return "", os.NewSyscallError("GetTokenInformation", err)
	}
	boot, err := process.BootID()
	return fmt.Sprintf("%s-%x-%x", boot, uint32(s.AuthenticationID.HighPart), s.AuthenticationID.LowPart), err
}
