package daemon

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
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

// logonSession is the beginning of SECURITY_LOGON_SESSION_DATA of ntsecapi.h.
type logonSession struct {
	Size                  uint32
	LogonID               windows.LUID
	UserName              windows.NTUnicodeString
	LogonDomain           windows.NTUnicodeString
	AuthenticationPackage windows.NTUnicodeString
	LogonType             uint32
	Session               uint32
	SID                   *windows.SID
	LogonTime             int64 // FILETIME
}

var (
	secur32                = windows.NewLazySystemDLL("secur32.dll")
	lsaGetLogonSessionData = secur32.NewProc("LsaGetLogonSessionData")
	lsaFreeReturnBuffer    = secur32.NewProc("LsaFreeReturnBuffer")
)

// loginID names the logon session: by a number that no other one of this boot
// has, and by the time of the logon, since the numbers begin anew with each boot.
// That time is written down once, whatever is done to the clock later.
func loginID() (string, error) {
	var s tokenStatistics
	var n uint32
	err := windows.GetTokenInformation(windows.GetCurrentProcessToken(), windows.TokenStatistics, (*byte)(unsafe.Pointer(&s)), uint32(unsafe.Sizeof(s)), &n)
	if err != nil {
		return "", os.NewSyscallError("GetTokenInformation", err)
	}
	at, err := logonTime(s.AuthenticationID)
	if err != nil {
		return "", err
	}
	return logonName(s.AuthenticationID, at), nil
}

func logonName(id windows.LUID, at int64) string {
	return fmt.Sprintf("%x-%x-%x", uint32(id.HighPart), id.LowPart, uint64(at))
}

// logonTime is when a logon session of our user began, as FILETIME.
func logonTime(id windows.LUID) (int64, error) {
	if err := lsaGetLogonSessionData.Find(); err != nil {
		return 0, err
	}
	var data *logonSession
	status, _, _ := lsaGetLogonSessionData.Call(uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(&data)))
	if status != 0 {
		return 0, os.NewSyscallError("LsaGetLogonSessionData", windows.NTStatus(status))
	}
	defer lsaFreeReturnBuffer.Call(uintptr(unsafe.Pointer(data)))
	return data.LogonTime, nil
}
