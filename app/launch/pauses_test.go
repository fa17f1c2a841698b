package launch

import (
	"slices"
	"testing"
	"time"
)

func TestPausesGrow(t *testing.T) {
	p := pauses{next: 10, most: 50}
	var got []time.Duration
	for range 5 {
		got = append(got, p.take())
	}
	if !slices.Equal(got, []time.Duration{10, 20, 40, 50, 50}) {
		t.Error(got)
	}
	enough := make(chan struct{})
	close(enough)
	if p := (pauses{next: time.Hour, most: time.Hour}); p.wait(enough) {
		t.Error("it waited")
	}
	if p := (pauses{next: 1, most: 1}); !p.wait(nil) {
		t.Error("it did not wait")
	}
}
