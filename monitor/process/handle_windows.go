package process

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/windows"

	"lamplighter/monitor"
)

// exitKilled is the exit status of what we end, as that of Task Manager.
const exitKilled = 1

// held is an open process with the right to end it.
type held struct{ handle }

func hold(id monitor.Identity) (held, error) {
	if id.PID <= 0 || int64(id.PID) > math.MaxUint32 {
		return held{}, gone(id.PID)
	}
	const rights = windows.PROCESS_TERMINATE | windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE
	raw, err := windows.OpenProcess(rights, false, uint32(id.PID))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return held{}, gone(id.PID)
	}
	if err != nil {
		return held{}, fmt.Errorf("opening process %d to end it: %w", id.PID, err)
	}
	h := held{handle{id.PID, raw}}
	now, _, err := h.times()
	if err == nil && (now != id || h.over()) {
		err = gone(id.PID)
	}
	if err != nil {
		h.close()
		return held{}, err
	}
	return h, nil
}

func (h held) terminate() error { return h.kill() }
func (h held) suspend() error   { return errors.ErrUnsupported }
func (h held) resume() error    { return nil }

func (h held) kill() error {
	if h.over() {
		return gone(h.pid)
	}
	err := windows.TerminateProcess(h.h, exitKilled)
	// A process that is ending already refuses, and may take a moment yet.
	if err != nil && h.over() {
		return gone(h.pid)
	}
	return err
}

func (h held) ended() bool { return h.over() }
