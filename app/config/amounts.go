package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// none is what switches off a setting that is a number otherwise, as null does.
const none = "none"

// Minutes is a time that is written in minutes; 0 = none.
type Minutes time.Duration

// The bounds of Minutes, in minutes.
const (
	leastMinutes = 0.01
	mostMinutes  = 525_600 // a year
)

// UnmarshalText accepts a number of minutes, which may have a fraction, and
// "none". 0 is refused: it could mean both.
func (m *Minutes) UnmarshalText(text []byte) error {
	if string(text) == none {
		m.Null()
		return nil
	}
	n, ok := number(string(text))
	if !ok || n < leastMinutes || n > mostMinutes {
		return fmt.Errorf("%s is not a number of minutes from %v to %v; write %s to switch it off", excerpt(string(text)), leastMinutes, mostMinutes, none)
	}
	*m = Minutes(n * float64(time.Minute))
	return nil
}

// Null switches it off.
func (m *Minutes) Null() { *m = 0 }

// MemoryLimit is an amount of memory in bytes; 0 = none.
type MemoryLimit uint64

// units are what an amount may be written in, in bytes, the longer names first.
var units = []struct {
	name  string
	bytes float64
}{{"mib", 1 << 20}, {"gib", 1 << 30}, {"mb", 1e6}, {"gb", 1e9}}

// The bounds of MemoryLimit, in bytes.
const (
	leastMemory = 1e6
	mostMemory  = 1e15
)

// UnmarshalText accepts an amount such as "2 GB" or "500 MB", and "none".
func (l *MemoryLimit) UnmarshalText(text []byte) error {
	if string(text) == none {
		l.Null()
		return nil
	}
	for _, unit := range units {
		amount, ok := strings.CutSuffix(strings.ToLower(string(text)), unit.name)
		if !ok {
			continue
		}
		if n, ok := number(strings.TrimRight(amount, " ")); ok && n*unit.bytes >= leastMemory && n*unit.bytes <= mostMemory {
			*l = MemoryLimit(n * unit.bytes)
			return nil
		}
	}
	return fmt.Errorf("%s is not an amount of memory of at least 1 MB, such as 500 MB or 2 GB; write %s to switch it off", excerpt(string(text)), none)
}

// Null switches it off.
func (l *MemoryLimit) Null() { *l = 0 }

// number reads digits with at most one point among them. What else counts as a
// number elsewhere (1e3, NaN) is more likely a mistake.
func number(text string) (float64, bool) {
	if text == "" || len(text) > 20 || strings.Trim(text, "0123456789.") != "" || text[0] == '.' || text[len(text)-1] == '.' {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}
