package monitor

import (
	"strings"
	"testing"
)

// FuzzParseIdentity: an id that is taken names a process, and is read the same
// again. Requests of browsers and files name instances by it.
func FuzzParseIdentity(f *testing.F) {
	for _, seed := range []string{"7-70", "7-18446744073709551615", "-7-70", "+7-70", "007-070", "7-", "7-70-1", "9223372036854775808-1", "7\n-70", "", "٧-٧"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseIdentity(text)
		if err != nil {
			if id != (Identity{}) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q: %v, %v", text, id, err)
			}
			return
		}
		again, err := ParseIdentity(id.String())
		if id.PID <= 0 || err != nil || again != id {
			t.Errorf("%q is %v, and that %v, %v", text, id, again, err)
		}
	})
}
