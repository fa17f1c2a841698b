package monitor

import (
	"math"
	"testing"
)

func TestMemory(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 MB", 1: "0 MB", 500_000: "1 MB", 108_400_000: "108 MB", 999_499_999: "999 MB",
		999_500_000: "1.0 GB", 1_000_000_000: "1.0 GB", 12_345_678_901: "12.3 GB", math.MaxUint64: "18446744073.7 GB",
	} {
		if got := Memory(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 2: "2 entries", 1000: "1000 entries"} {
		if got := Plural(n, "entry", "entries"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
