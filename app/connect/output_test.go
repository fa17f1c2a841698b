package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestLast: whatever the pieces, the end of them is kept.
func TestLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newOutput("")
		var all []byte
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, maxLast), 0, 12).Draw(t, "lengths") {
			piece := bytes.Repeat([]byte{byte(i), 'x', 'y'}, n/3+1)[:n]
			o.keep(piece)
			all = append(all, piece...)
		}
		if !bytes.Equal(o.last(), all[max(0, len(all)-maxLast):]) {
			t.Fatal("that is not the end")
		}
	})
}

func TestLogTurns(t *testing.T) {
	dir := t.TempDir()
	l := logFile{dir: dir}
	l.open()
	defer l.close()
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return -1
		}
		return info.Size()
	}
	piece := make([]byte, maxLog/4)
	for i, want := range []struct{ now, before int64 }{{1, -1}, {2, -1}, {3, -1}, {4, -1}, {1, 4}, {2, 4}, {3, 4}, {4, 4}, {1, 4}} {
		l.write(piece)
		now, before := size("output.log"), size("output.log.1")
		if now != want.now*maxLog/4 || before != max(-1, want.before*maxLog/4) {
			t.Errorf("after %d pieces: %d and %d bytes", i+1, now, before)
		}
	}
}

// TestLogGoesOn: a log that was there is added to, and one that cannot be
// renamed begins anew.
func TestLogGoesOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "output.log")
	if err := errors.Join(os.WriteFile(path, []byte("before "), 0o600), os.MkdirAll(filepath.Join(path+".1", "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	l := logFile{dir: dir}
	l.write([]byte("after"))
	if text, err := os.ReadFile(path); err != nil || string(text) != "before after" {
		t.Errorf("%q, %v", text, err)
	}
	l.write(make([]byte, maxLog))
	l.close()
	if info, err := os.Stat(path); err != nil || info.Size() != maxLog {
		t.Errorf("%v, %v", info, err)
	}
}

// TestLogWithoutPlace: what cannot be written is lost, until it can be again.
func TestLogWithoutPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	l := logFile{dir: dir}
	l.open()
	l.write([]byte("lost"))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.write([]byte("kept"))
	l.close()
	if text, err := os.ReadFile(filepath.Join(dir, "output.log")); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
}
