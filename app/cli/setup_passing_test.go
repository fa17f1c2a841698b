package cli

import "testing"

func TestPassing(t *testing.T) {
	for self, want := range map[string]string{
		"":                                        "",
		"/usr/local/bin/lamplighter":              "",
		"/home/me/.local/bin/lamplighter":         "",
		"/tmp/x/lamplighter":                      "a directory for temporary files",
		"/tmporary/lamplighter":                   "",
		"/home/me/lamplighter/bin/lamplighter":    "", // of a checkout, as README says
		"/home/me/lamplighter/lamplighter":        "",
		"/var/x/go-build123/b001/exe/lamplighter": "a directory of go run",
	} {
		if got := passingBecause(self, []string{"", "/tmp"}); got != want {
			t.Errorf("%s: %q", self, got)
		}
	}
}
