package process

import (
	"maps"
	"testing"
)

func TestParseLaunchctl(t *testing.T) {
	const list = "PID\tStatus\tLabel\n" +
		"-\t0\tcom.apple.SafariHistoryServiceAgent\n" +
		"531\t0\tcom.example.agent\n" +
		"-\t-9\tcom.example.crashed\n" +
		"601\t-15\tapplication.com.apple.Terminal.1152921500311885012.1152921500311885017\n" +
		"602\t0\n603\t0\twith spaces\n0\t0\tzero\n99999999999\t0\tbig\n77\t0\t\n"
	want := map[int]string{603: "with spaces", 531: "com.example.agent", 601: "application.com.apple.Terminal.1152921500311885012.1152921500311885017"}
	if got := parseLaunchctl(list); !maps.Equal(got, want) {
		t.Error(got)
	}
	const print = `com.apple.xpc.launchd.domain.system = {
	type = system
	handle = 0
	active count = 1234

	services = {
		     105      - 	com.apple.runningboardd
		       0      - 	{com.apple.lskdd}
		     340     (pe) 	com.example.daemon
	}

	unmanaged processes = {
		     900      -	com.example.other
	}
	endpoints = {
		"com.apple.x" = {
			 7 8 9
		}
	}
}
`
	want = map[int]string{105: "com.apple.runningboardd", 340: "com.example.daemon"}
	if got := parseLaunchctl(print); !maps.Equal(got, want) {
		t.Error(got)
	}
}
