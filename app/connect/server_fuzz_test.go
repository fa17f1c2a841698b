package main

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzParseServer: what the launcher has written, or somebody else, names one
// process, or none that could be ended by mistake.
func FuzzParseServer(f *testing.F) {
	for _, seed := range []string{"12-345\n", "", "-1-1", "0-1", "1-", "4711-18446744073709551615", "12-345 67-8", "99999999999999999999-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := parseServer(text)
		if p == (proc{}) {
			return
		}
		if p.pid <= 0 || parseServer(fmt.Sprintf("%d-%d\n", p.pid, p.start)) != p || len(strings.Fields(text)) != 1 {
			t.Errorf("%q: %v", text, p)
		}
	})
}

// FuzzStatusNumber: however a server is said to have ended, there is a status.
func FuzzStatusNumber(f *testing.F) {
	for _, seed := range []string{"code 0", "code 3", "signal 15", "signal 4294967295", "code -1", "", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, how string) {
		if n := statusNumber(how); n < 0 {
			t.Errorf("%q: %d", how, n)
		}
	})
}
