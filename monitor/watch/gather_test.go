package watch

import (
	"testing"
	"testing/synctest"
	"time"
)

// However many come, they wait no longer than the first one may, and the last one
// waits for nobody.
func TestGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGathering()
		defer g.stop()
		for range 3 {
			begun := time.Now()
			for n := 40; n > 0; n-- {
				if !g.goOn(n) {
					t.Error("it does not wait for the others")
				}
				time.Sleep(gatherTime / 50) // of the bubble's clock
			}
			<-g.due.C
			if waited := time.Since(begun); waited != gatherTime {
				t.Errorf("waited for %v", waited)
			}
			g.over()
		}
		if g.goOn(0) {
			t.Error("the last one waits")
		}
	})
}
