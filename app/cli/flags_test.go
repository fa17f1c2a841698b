package cli

import (
	"testing"
	"time"

	"lamplighter/app/config"
)

func TestMinutesFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{"30": 30 * time.Minute, "0.05": 3 * time.Second, "none": 0} {
		var got *config.Minutes
		if err := (minutesFlag{&got}).Set(text); err != nil || got == nil || time.Duration(*got) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "soon", "null", "1e3"} {
		var got *config.Minutes
		if err := (minutesFlag{&got}).Set(text); err == nil || got != nil {
			t.Errorf("%q counts as %v", text, got)
		}
	}
}
