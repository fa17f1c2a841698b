package process

import (
	"fmt"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// timeOfDay is SYSTEM_TIMEOFDAY_INFORMATION of ntexapi.h.
type timeOfDay struct {
	bootTime     int64
	currentTime  int64
	timeZoneBias int64
	timeZoneID   uint32
	_            uint32
	bootTimeBias uint64
	sleepBias    uint64
}

// BootID is a text that differs from boot to boot and stays the same within
// one: pids of an earlier one mean nothing. Setting the clock moves the boot time
// and its bias alike, so their difference does not change.
func BootID() (string, error) {
	var t timeOfDay
	err := windows.NtQuerySystemInformation(windows.SystemTimeOfDayInformation, unsafe.Pointer(&t), uint32(unsafe.Sizeof(t)), nil)
	if err != nil {
		return "", fmt.Errorf("reading the id of this boot: %w", err)
	}
	return strconv.FormatInt(t.bootTime-int64(t.bootTimeBias), 16), nil
}
