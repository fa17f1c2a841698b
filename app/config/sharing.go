package config

import (
	"fmt"
	"strconv"
	"time"
)

// defaultPark is how long nobody asks a shared server for anything before it is
// parked, where the file says nothing.
const defaultPark = 30 * time.Minute

// defaultHang is how long a shared server that does not answer is waited for, likewise.
const defaultHang = 2 * time.Minute

// SharingKeys is what the file says of servers that clients share. A field is nil
// where it says nothing; Settings.Sharing tells what holds.
type SharingKeys struct {
	ParkAfterMinutes    *ParkMinutes `yaml:"park_after_minutes"`
	HangLimitMinutes    *Minutes     `yaml:"hang_limit_minutes"`
	ShareWithOtherUsers *bool        `yaml:"share_with_other_users"`
}

// Sharing is what holds for servers that clients share.
type Sharing struct {
	// ParkAfter is how long such a server stays without a request; 0 = for ever. One
	// without clients stays as long, and ten minutes at most.
	ParkAfter time.Duration
	// HangLimit is how long clients wait for one that does not answer before another
	// takes its place; 0 = for ever.
	HangLimit time.Duration
	// WithOtherUsers shares also while another user is logged in, whose programs
	// could call the tools of a server that listens.
	WithOtherUsers bool
}

// Sharing is what holds, each setting being its default where nothing is said.
// over replaces the time until a server is parked, unless it is 0: see
// IdleShutdown.
func (s Settings) Sharing(over time.Duration) Sharing {
	all := Sharing{ParkAfter: defaultPark, HangLimit: defaultHang}
	switch {
	case over != 0:
		all.ParkAfter = over
	case s.ParkAfterMinutes != nil:
		all.ParkAfter = time.Duration(*s.ParkAfterMinutes)
	}
	if s.HangLimitMinutes != nil {
		all.HangLimit = time.Duration(*s.HangLimitMinutes)
	}
	if s.ShareWithOtherUsers != nil {
		all.WithOtherUsers = *s.ShareWithOtherUsers
	}
	return all
}

// ParkMinutes are Minutes that "off" switches off, too: there is nothing to end
// then, so that people write either.
type ParkMinutes Minutes

// UnmarshalText accepts what Minutes do, and "off".
func (m *ParkMinutes) UnmarshalText(text []byte) error {
	if string(text) == "off" {
		m.Null()
		return nil
	}
	return (*Minutes)(m).UnmarshalText(text)
}

// Null switches it off.
func (m *ParkMinutes) Null() { *m = 0 }

// idleShutdownVariable sets the time until a shared server is parked, in seconds,
// whatever the settings say.
const idleShutdownVariable = "LAMPLIGHTER_IDLE_SHUTDOWN_SECS"

// IdleShutdown is what idleShutdownVariable says: more than 0, and 0 when it says
// nothing. With an error, which is a sentence for people, it counts as not said.
func IdleShutdown(getenv func(string) string) (time.Duration, error) {
	text := getenv(idleShutdownVariable)
	if text == "" {
		return 0, nil
	}
	const most = mostMinutes * 60
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s: %s is not a whole number of seconds from 1 to %d; it is not used", idleShutdownVariable, excerpt(text), most)
	}
	return time.Duration(n) * time.Second, nil
}
