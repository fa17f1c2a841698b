package launch

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// How long a file is tried that somebody else has open, such as a scanner of
// viruses, and how often.
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
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return err
		}
	}
}
