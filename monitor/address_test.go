package monitor

import "testing"

func TestPortOf(t *testing.T) {
	for address, want := range map[string]int{
		"http://127.0.0.1:24282/dashboard/": 24282, "http://[::1]:9121/mcp": 9121, "http://localhost/mcp": 0,
		"": 0, "127.0.0.1:24282": 0, "http://127.0.0.1:x/": 0, "\x7f": 0,
	} {
		if got := PortOf(address); got != want {
			t.Errorf("%q: %d, want %d", address, got, want)
		}
	}
}
