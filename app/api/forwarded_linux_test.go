package api

import "testing"

func TestIsWSL(t *testing.T) {
	for release, want := range map[string]bool{
		"6.6.87.2-microsoft-standard-WSL2\n": true, "4.4.0-19041-Microsoft\n": true, "6.12.48-generic\n": false, "": false,
	} {
		if got := isWSL([]byte(release)); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}
