package monitor

import (
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSlowSubscriberGetsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f Feed[int]
		published := rapid.IntRange(0, 1).Draw(t, "published before")
		if published > 0 {
			f.Publish(published)
		}
		c, cancel := f.Subscribe()
		seen := 0
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "publish") {
				published++
				f.Publish(published)
			} else {
				select {
				case seen = <-c:
				default:
				}
				if seen != published {
					t.Fatalf("got %d, newest is %d", seen, published)
				}
			}
			if got := f.Latest(); got != published {
				t.Fatalf("latest is %d, want %d", got, published)
			}
		}
		cancel()
		cancel()
		f.Publish(published + 1)
		select {
		case got := <-c:
			if got == published+1 {
				t.Fatal("it got a value after it had cancelled")
			}
		default:
		}
	})
}

func TestFeedIsSafeForConcurrentUse(t *testing.T) {
	var f Feed[int]
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 100 {
				f.Publish(i)
			}
		})
		all.Go(func() {
			for range 100 {
				c, cancel := f.Subscribe()
				select {
				case <-c:
				default:
				}
				f.Latest()
				cancel()
			}
		})
	}
	all.Wait()
	if c, _ := f.Subscribe(); <-c != 99 {
		t.Error("the newest value is another one")
	}
}

func TestBell(t *testing.T) {
	b := NewBell()
	b.Ring()
	b.Ring()
	<-b
	select {
	case <-b:
		t.Error("it rang twice")
	default:
	}
}
