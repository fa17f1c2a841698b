//go:build unix

package process

import "lamplighter/monitor"

// confirm tells with certainty that the pid is still this process, or why that
// is not so: before a signal, what cannot be read does not count as the same.
func confirm(id monitor.Identity) error {
	s, err := ReadStat(id.PID)
	if err != nil {
		return err
	}
	if s.Identity != id || s.State == Unreaped {
		return gone(id.PID)
	}
	return nil
}
