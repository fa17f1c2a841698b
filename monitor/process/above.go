package process

import (
	"errors"
	"fmt"
	"io/fs"

	"lamplighter/monitor"
)

// maxAncestors bounds the climb, which the kernel's tables make finite anyway.
const maxAncestors = 256

// Above are the processes above one, its parent first. It stops where
// the parent is gone (its pid may have another process by now, which started
// later than its child) or may not be looked at, as the topmost ones on
// Windows. The error is ErrGone when the process itself is gone.
func Above(s System, pid int) ([]monitor.Identity, error) {
	child, err := s.Stat(pid)
	if err != nil {
		return nil, err
	}
	var above []monitor.Identity
	for range maxAncestors {
		parent, err := s.Stat(child.Parent)
		if errors.Is(err, ErrGone) {
			// Its parent has ended just now, or long ago. Where orphans are
			// adopted it has another one by now.
			again, err := s.Stat(child.PID)
			if err != nil || again.Identity != child.Identity || again.Parent == child.Parent {
				return above, nil
			}
			child = again
			continue
		}
		if errors.Is(err, fs.ErrPermission) {
			return above, nil
		}
		if err != nil {
			return nil, fmt.Errorf("looking for the ancestors of process %d: %w", pid, err)
		}
		if parent.Start > child.Start || parent.PID == child.PID {
			return above, nil
		}
		above = append(above, parent.Identity)
		child = parent
	}
	return nil, fmt.Errorf("looking for the ancestors of process %d: it has more than %d", pid, maxAncestors)
}
