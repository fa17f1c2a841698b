package assistant

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Notes are sent seldom, each higher than the one before, and the last one always.
func TestNotesAreSentSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		begun := time.Now()
		n := notify(time.Second, func(progress float64, words string) {
			sent = append(sent, fmt.Sprintf("%v %.3f %s", time.Since(begun), progress, words))
		})
		n.tell(note{-1, "counting"})
		synctest.Wait()
		n.tell(note{1, "skipped"})
		n.tell(note{20, "twenty"})
		time.Sleep(1500 * time.Millisecond)
		n.tell(note{20, "twenty still"})
		time.Sleep(time.Second)
		n.tell(note{5, "back"})
		n.tell(note{100, "whole"})
		n.stop()
		n.tell(note{100, "too late"})
		n.stop()
		want := []string{"0s 0.001 counting", "1s 20.000 twenty", "2s 20.001 twenty still", "2.5s 100.000 whole"} // an end waits for no pause
		if !slices.Equal(sent, want) {
			t.Errorf("sent %q", sent)
		}
	})
}

// A client that does not read holds up nobody who tells.
func TestNotesWaitForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := make(chan struct{})
		n := notify(time.Second, func(float64, string) { <-reads })
		for i := range 1000 {
			n.tell(note{i / 10, "x"})
		}
		close(reads)
		n.stop()
	})
}
