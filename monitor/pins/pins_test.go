package pins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestPinsStay(t *testing.T) {
	w, path := &world{boot: "b1"}, fileIn(t)
	s, said := w.open(path)
	pin(t, s, 3, 1, 3)
	holds(t, s, 1, 3)
	if got := content(t, path); got != `{"boot":"b1","pins":["1-7","3-7"]}`+"\n" {
		t.Errorf("the file says %s", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	again, _ := w.open(path)
	holds(t, again, 1, 3)
	if again.Pinned(monitor.Identity{PID: 3, Start: 8}) {
		t.Error("a pin is for another process with the same pid")
	}
	if err := again.Set(who(3), false); err != nil {
		t.Error(err)
	}
	if err := again.Set(who(9), false); err != nil {
		t.Errorf("that it was not pinned is no failure: %v", err)
	}
	holds(t, again, 1)
	if got := names(t, path); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
	if said.Len() > 0 {
		t.Error(said.String())
	}
}

func TestWithoutAFile(t *testing.T) {
	w := &world{broken: errors.New("no /proc")}
	s, said := w.open("")
	pin(t, s, 2)
	holds(t, s, 2)
	if err := s.Set(who(2), false); err != nil || said.Len() > 0 {
		t.Error(err, said)
	}
	holds(t, s)
}

func TestTheDeadAreForgotten(t *testing.T) {
	w, path := &world{boot: "b1"}, fileIn(t)
	s, _ := w.open(path)
	pin(t, s, 1, 2)
	w.kill(who(1))
	pin(t, s, 3)
	holds(t, s, 2, 3)
	if got := content(t, path); got != `{"boot":"b1","pins":["2-7","3-7"]}`+"\n" {
		t.Errorf("the file says %s", got)
	}
	err := s.Set(who(1), true)
	if !errors.Is(err, process.ErrGone) || !strings.Contains(err.Error(), "process 1 was not pinned: it has ended") {
		t.Error(err)
	}
	if err := s.Set(who(1), false); err != nil {
		t.Error(err)
	}

	w.kill(who(2))
	after, _ := w.open(path)
	holds(t, after, 3)

	// After another boot the same pids and start times are other processes.
	reborn := &world{boot: "b2"}
	later, said := reborn.open(path)
	holds(t, later)
	pin(t, later, 8)
	if got := content(t, path); got != `{"boot":"b2","pins":["8-7"]}`+"\n" || said.Len() > 0 {
		t.Errorf("the file says %s; said %s", got, said)
	}
}

// Whoever has the file open too is heard.
func TestTwoStores(t *testing.T) {
	w, path := &world{boot: "b1"}, fileIn(t)
	a, _ := w.open(path)
	b, _ := w.open(path)
	pin(t, a, 1)
	pin(t, b, 2)
	holds(t, b, 1, 2)
	pin(t, a, 3)
	holds(t, a, 1, 2, 3)
	// A file that was removed is no reason to forget.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	pin(t, a, 4)
	again, _ := w.open(path)
	holds(t, again, 1, 2, 3, 4)
}

func TestFilesThatAreNoList(t *testing.T) {
	for name, text := range map[string]string{
		"empty":       "",
		"only blanks": " \n",
		"rubbish":     "\x00\xff<html>",
		"half":        `{"boot":"b1","pins":["1-7"`,
		"null":        "null",
		"a list":      `["1-7"]`,
		"other types": `{"boot":1,"pins":{}}`,
		"no identity": `{"boot":"b1","pins":["1-7","-3-7"]}`,
		"too large":   `{"boot":"b1","pins":["1-7"]}` + strings.Repeat(" ", maxSize),
	} {
		t.Run(name, func(t *testing.T) {
			w, path := &world{boot: "b1"}, fileIn(t)
			put(t, path, text)
			s, said := w.open(path)
			holds(t, s)
			if err := s.Err(); err == nil || !strings.HasPrefix(err.Error(), path+": it is not a list of pins") || !strings.Contains(said.String(), "it is not a list of pins") {
				t.Errorf("%v, said %q", err, said)
			}
			// Whoever only reads leaves it as it is.
			if list := names(t, path); len(list) != 1 || content(t, path) != text {
				t.Errorf("reading made %v of it", list)
			}
			// A pin in it may be all that keeps somebody's server.
			for _, pinned := range []bool{true, false} {
				if err := s.Set(who(5), pinned); !errors.Is(err, errCorrupt) || !strings.HasSuffix(err.Error(), "others may be pinned in it; mend or remove it") {
					t.Errorf("got %v", err)
				}
			}
			if err := s.Err(); err == nil || content(t, path) != text {
				t.Errorf("%v, the file says %q", err, content(t, path))
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			pin(t, s, 5)
			// One that becomes so later takes no pin with it either.
			put(t, path, text)
			if err := s.Set(who(6), true); !errors.Is(err, errCorrupt) || content(t, path) != text || s.Err() != nil {
				t.Errorf("got %v, the file says %q", err, content(t, path))
			}
			holds(t, s, 5)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			pin(t, s, 6)
			again, _ := w.open(path)
			holds(t, again, 5, 6)
		})
	}
}

func TestFilesThatSayLess(t *testing.T) {
	for name, text := range map[string]string{
		"another boot": `{"boot":"b0","pins":["1-7"]}`,
		"no pins":      `{"boot":"b1"}`,
		"more":         `{"boot":"b1","pins":[],"version":9}`,
	} {
		w, path := &world{boot: "b1"}, fileIn(t)
		put(t, path, text)
		s, said := w.open(path)
		holds(t, s)
		pin(t, s, 4)
		if got := content(t, path); got != `{"boot":"b1","pins":["4-7"]}`+"\n" || said.Len() > 0 || s.Err() != nil {
			t.Errorf("%s: the file says %s; said %s", name, got, said)
		}
	}
}

// What is in the way is neither followed nor replaced.
func TestWhatIsInTheWay(t *testing.T) {
	w := &world{boot: "b1"}
	for name, c := range map[string]struct {
		lay  func(path string) error
		says string
	}{
		"a directory": {func(path string) error { return os.MkdirAll(path, 0o700) }, "a directory, not a file"},
		"a file above": {func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600))
		}, ""},
		"an unknown boot": {func(string) error { w.broken = errors.New("no /proc"); return nil }, "which boot this is cannot be found out"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { w.broken = nil }()
			path := fileIn(t)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.lay(path); err != nil {
				t.Fatal(err)
			}
			s, _ := w.open(path)
			// Windows says of what would lie below a file that it does not exist.
			missing := name == "a file above" && runtime.GOOS == "windows"
			if err := s.Err(); !missing && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("it seems to be known who is pinned: %v", err)
			}
			err := s.Set(who(1), true)
			if err == nil || !strings.HasPrefix(err.Error(), "process 1 was not pinned: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			holds(t, s)
		})
	}
}

// What could not be read is read when it can be.
func TestErrLooksAgain(t *testing.T) {
	w, path := &world{boot: "b1"}, fileIn(t)
	put(t, path, `{"boot":"b1","pins":["1-7"`)
	s, _ := w.open(path)
	if s.Err() == nil {
		t.Error("half of a file is enough")
	}
	put(t, path, `{"boot":"b1","pins":["1-7"]}`)
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	holds(t, s, 1)
	// What is known stays known.
	put(t, path, "rubbish")
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	holds(t, s, 1)

	put(t, path, "rubbish")
	s, _ = w.open(path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("without a file: %v", err)
	}
}

// A store and its file are what was set, whatever ends and however often it is
// opened again.
func TestStoreIsInStep(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		w, path := &world{boot: "b"}, filepath.Join(dir, fmt.Sprint(n), "pins.json")
		s, _ := w.open(path)
		want := map[int]bool{}
		pid := rapid.IntRange(1, 20)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				p, pinned := pid.Draw(t, "pid"), rapid.Bool().Draw(t, "pinned")
				dead := !w.lives(who(p))
				if err := s.Set(who(p), pinned); (err != nil) != (dead && pinned) {
					t.Fatal(err)
				}
				if want[p] = pinned && !dead; !want[p] {
					delete(want, p)
				}
			},
			"end": func(t *rapid.T) {
				p := pid.Draw(t, "pid")
				w.kill(who(p))
			},
			"reopen": func(*rapid.T) { s, _ = w.open(path) },
			"reboot": func(t *rapid.T) {
				w = &world{boot: w.boot + "x"}
				s, _ = w.open(path)
				clear(want)
			},
			"": func(t *rapid.T) {
				for p := 1; p <= 20; p++ {
					if w.lives(who(p)) && s.Pinned(who(p)) != want[p] {
						t.Fatalf("%d: pinned %v, want %v", p, s.Pinned(who(p)), want[p])
					}
				}
			},
		})
	})
}

func TestManyAtOnce(t *testing.T) {
	w, path := &world{boot: "b"}, fileIn(t)
	s, _ := w.open(path)
	var running sync.WaitGroup
	for pid := 1; pid <= 20; pid++ {
		running.Go(func() {
			for i := range 5 {
				if err := s.Set(who(pid), i%2 == 0); err != nil {
					t.Error(err)
				}
				if s.Pinned(who(pid)) != (i%2 == 0) {
					t.Error("it is not what was set")
				}
			}
		})
	}
	running.Wait()
	again, _ := w.open(path)
	holds(t, again, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
}
