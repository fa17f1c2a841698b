package cli

import "testing"

func TestVersionOf(t *testing.T) {
	if got := versionOf("9.9"); got != "9.9" {
		t.Error(got)
	}
	if got := versionOf(""); got == "" {
		t.Error("no version")
	}
}
