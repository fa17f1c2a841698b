package main

import "golang.org/x/sys/windows"

// endedByUs is the exit status of what we end.
const endedByUs = 1

// onSignal does nothing: Windows has no signals. Whoever ends the keeper closes
// its job, and with that the server.
func onSignal(chan<- reason) {}

// end ends the tree as soon as there is a reason, and never returns. wait does
// when nothing is left. What people work in goes as well: nothing that runs can
// leave a job, and a job that lets new processes out of it would lose servers.
func (t *tree) end(reasons <-chan reason) {
	for range reasons {
		_ = windows.TerminateJobObject(t.job, endedByUs)
	}
}
