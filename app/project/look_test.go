package project

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A path that does not answer is waited for so long, asked about once however
// often it comes, and in the way of no other one until too many hang.
func TestPathThatHangs(t *testing.T) {
	const most = 256
	hold := make(chan struct{})
	var mu sync.Mutex
	seen := map[string]int{}
	top := t.TempDir()
	hung := func(i int) string { return filepath.Join(top, fmt.Sprint("hung", i)) }
	l := &Looks{Limit: time.Millisecond, Most: most, Before: func(path string) {
		mu.Lock()
		seen[path]++
		mu.Unlock()
		<-hold
	}}
	for range 3 {
		for i := range most {
			if _, err := Check(t.Context(), l, hung(i)); err == nil || !strings.Contains(err.Error(), "does not answer within") {
				t.Fatal(err)
			}
		}
	}
	if _, err := Look(t.Context(), l, "something else", hung(0), func(string) int { return 1 }); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
	if _, err := Check(t.Context(), l, top); err == nil || !strings.Contains(err.Error(), "256 other paths do not answer") {
		t.Error(err)
	}
	l.Limit = time.Hour
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := Check(ctx, l, hung(0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l.mu.Lock()
	waiting := l.busy[look{"project", hung(1)}]
	l.mu.Unlock()
	close(hold)
	<-waiting.done
	if _, err := Check(t.Context(), l, hung(1)); err == nil || strings.Contains(err.Error(), "answer") {
		t.Errorf("a path that answers, and leads nowhere: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != most || seen[hung(0)] != 1 {
		t.Errorf("asked about %d, %d times", len(seen), seen[hung(0)])
	}
}

func TestALookAtItsEnd(t *testing.T) {
	l := &Looks{Limit: time.Minute}
	if n, err := Look(t.Context(), l, "length", "four", func(path string) int { return len(path) }); n != 4 || err != nil {
		t.Error(n, err)
	}
	if found, err := Look(t.Context(), l, "nothing", "four", func(string) error { return nil }); found != nil || err != nil {
		t.Error(found, err)
	}
}
