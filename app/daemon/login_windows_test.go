package daemon

import (
	"testing"

	"golang.org/x/sys/windows"
)

// The number of a logon session comes again after the next boot, its time does
// not.
func TestLogonName(t *testing.T) {
	id := windows.LUID{LowPart: 0x3e7, HighPart: -1}
	if got := logonName(id, 133_000_000_000_000_000); got != "ffffffff-3e7-1d882cb9b208000" {
		t.Error(got)
	}
	if logonName(id, 1) == logonName(id, 2) || logonName(id, 1) == logonName(windows.LUID{LowPart: 0x3e8, HighPart: -1}, 1) {
		t.Error("two logins have one name")
	}
}
