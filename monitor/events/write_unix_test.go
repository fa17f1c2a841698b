//go:build unix

package events

import (
	"sync"
	"testing"
)

// Several processes append to one log, and no line is lost or torn.
// Not under Wine, which looks for the end of a file and then writes there, over what
// another has written meanwhile.
func TestManyWriters(t *testing.T) {
	dir := in(t.TempDir(), "state")
	const writers, each = 4, 100
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for n := range each {
				if done, err := Write(dir, event(1000*(w+1)+n)); err != nil || done != 1 {
					t.Error(done, err)
				}
			}
		})
	}
	running.Wait()
	list := all(t, dir)
	if len(list.Events) != writers*each || list.Skipped != 0 {
		t.Errorf("%d events, %d broken", len(list.Events), list.Skipped)
	}
	next := map[int]int{}
	for _, n := range pids(list) {
		if w := n / 1000; n%1000 != next[w] {
			t.Fatalf("%d where %d was expected", n, 1000*w+next[w])
		}
		next[n/1000]++
	}
}
