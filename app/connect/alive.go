package main

import (
	"os"
	"time"
)

// lookAgain is how often a lingering keeper looks for a background process.
const lookAgain = 500 * time.Millisecond

func openAlive(path string) (*os.File, error) { return os.Open(path) }

// watchAlive waits for the death of the background process, and says when the
// server has to go with it. The background process holds the lock exclusively
// for as long as it lives, so that waiting for it costs nothing. A lock that
// cannot be waited for counts as free: better no server than one without an
// owner.
func (o options) watchAlive(lock *os.File, reasons chan<- reason) {
	for {
		if lockShared(lock) == nil {
			unlock(lock)
		}
		lock.Close()
		if o.shared {
			if lock = o.findOwner(); lock != nil {
				continue
			}
		}
		reasons <- orphaned
		return
	}
}

// findOwner waits until somebody holds the lock again, and returns the lock to
// wait for; nil means that nobody came. The file may be another one by then.
func (o options) findOwner() *os.File {
	for deadline := time.Now().Add(o.linger); ; time.Sleep(lookAgain) {
		if lock, err := openAlive(o.alive); err == nil {
			if isHeld(lock) {
				return lock
			}
			lock.Close()
		}
		if !time.Now().Before(deadline) {
			return nil
		}
	}
}
