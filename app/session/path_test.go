package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Directories of every kind are taken, in their plain spelling, with their
// symbolic links; everything else is refused.
func TestPaths(t *testing.T) {
	top := t.TempDir()
	file := filepath.Join(top, "file")
	deep := top
	for len(deep)+101 < longestPath {
		deep = filepath.Join(deep, strings.Repeat("d", 100))
	}
	make := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	plainDir := make(filepath.Join(top, "plain"))
	good := map[string]string{plainDir: plainDir, plainDir + "/": plainDir, top + "/./plain//": plainDir, plainDir + "/../plain": plainDir}
	for _, name := range strange {
		path := make(filepath.Join(top, name))
		good[path] = path
	}
	if len(deep) < 200 || longPaths {
		good[make(deep)] = deep
	}
	var p paths
	for path, want := range good {
		if got, err := p.check(t.Context(), path); err != nil || got != want {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
	for _, path := range append(badPaths(t, top),
		"", ".", "..", "plain", "./plain", "~", "$HOME", "file://"+top, " "+top, file, file+"/", filepath.Join(top, "none"), filepath.Join(file, "below"),
		top+"\x00", plainDir+"\x00/..", top+strings.Repeat("/x", longestPath), filepath.Join(top, strings.Repeat("x", 300)), strings.Repeat("/", longestPath+1), "\xff",
	) {
		if got, err := p.check(t.Context(), path); !errors.Is(err, ErrBadPath) || got != "" {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}

// A path that does not answer is waited for so long, asked about once however
// often it comes, and in the way of no other one.
func TestPathThatHangs(t *testing.T) {
	hold := make(chan struct{})
	var mu sync.Mutex
	seen := map[string]int{}
	top := t.TempDir()
	hung := func(i int) string { return filepath.Join(top, fmt.Sprint("hung", i)) }
	p := paths{limit: time.Millisecond, see: func(path string) error {
		mu.Lock()
		seen[path]++
		mu.Unlock()
		<-hold
		return nil
	}}
	for range 3 {
		for i := range mostLooks {
			if _, err := p.check(t.Context(), hung(i)); !errors.Is(err, ErrBadPath) || !strings.Contains(err.Error(), "does not answer within") {
				t.Fatal(err)
			}
		}
	}
	if _, err := p.check(t.Context(), top); !errors.Is(err, ErrBadPath) || !strings.Contains(err.Error(), "256 other paths do not answer") {
		t.Error(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	p.limit = time.Hour
	if _, err := p.check(ctx, hung(0)); !errors.Is(err, ErrNotWanted) {
		t.Error(err)
	}
	waiting := p.looks[hung(1)]
	close(hold)
	<-waiting.done
	if _, err := p.check(t.Context(), hung(1)); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != mostLooks || seen[hung(0)] != 1 {
		t.Errorf("asked about %d, %d times", len(seen), seen[hung(0)])
	}
}
