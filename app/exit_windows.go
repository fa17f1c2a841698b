package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// exit ends the process without the ends of its libraries, which ExitProcess would
// wait for. COM gives back then what a notification has registered with it, by
// calling us: Go's runtime, which is on its way out, does not answer and hangs for
// good. It was seen with Wine 10.
func exit(status int) {
	_ = windows.TerminateProcess(windows.CurrentProcess(), uint32(status))
	os.Exit(status) // it was not possible
}
