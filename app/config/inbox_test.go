package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestInboxTakesWhileNobodyReads: what comes meanwhile is kept, and too much of
// it says that something was missed.
func TestInboxTakesWhileNobodyReads(t *testing.T) {
	notify, err := fsnotify.NewWatcher()
	must(t, err)
	dir := t.TempDir()
	must(t, notify.Add(dir))
	news := newInbox(notify)
	for i := range 3 {
		must(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600))
	}
	seen := map[string]bool{}
	for limit := time.After(deadline); len(seen) < 3; {
		select {
		case <-news.arrived:
			for _, n := range news.take() {
				seen[filepath.Base(n.event.Name)] = true
			}
		case <-limit:
			t.Fatalf("only %v arrived", seen)
		}
	}
	for range 2 * mostTold {
		news.add(told{event: fsnotify.Event{Name: "x"}})
	}
	must(t, notify.Close())
	<-news.emptied
	list := news.take()
	if n := len(list); n != mostTold+1 || !errors.Is(list[mostTold-1].err, fsnotify.ErrEventOverflow) || !errors.Is(list[mostTold].err, errEnded) {
		t.Errorf("%d things are kept, at the end %v", n, list[len(list)-2:])
	}
}
