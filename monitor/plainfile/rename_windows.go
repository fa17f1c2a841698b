package plainfile

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// How long a file is tried that somebody else has open, and how often.
const (
	againFor   = time.Second
	againEvery = 10 * time.Millisecond
)

// again does something to a file, and does it again while somebody who has it
// open is in the way.
func again(do func() error) error {
	deadline := time.NewTimer(againFor)
	defer deadline.Stop()
	tick := time.NewTicker(againEvery)
	defer tick.Stop()
	for {
		err := do()
		if !isHeld(err) {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return err
		}
	}
}

// isHeld tells whether somebody may have the file open. To replace one that is
// open Windows calls an access that is denied, and one that was removed while it
// was open lies in its directory until it is closed.
func isHeld(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_DIR_NOT_EMPTY)
}
