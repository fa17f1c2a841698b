package events

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, in(dir, "events-2026-11-20T11-00-00.000.jsonl"), line(3)+line(4))
	write(t, in(dir, "events-2026-11-20T10-00-00.000.jsonl"), line(1)+line(2)+`{"at":`)
	write(t, in(dir, "events.jsonl"), line(5)+"\n"+"rubbish\n"+strings.Repeat("x", 200_000)+"\n"+line(6)+line(7)+line(8)[:30])
	for _, name := range []string{"events-2026.jsonl", "events-2026-11-20T11-00-00.000.jsonl.bak", "other.jsonl"} {
		write(t, in(dir, name), line(99))
	}
	for _, test := range []struct {
		q       Query
		want    []int
		skipped int
	}{
		{Query{}, []int{1, 2, 3, 4, 5, 6, 7}, 2},
		{Query{Last: 2}, []int{6, 7}, 2},
		{Query{Last: 4}, []int{4, 5, 6, 7}, 2},
		{Query{Last: 100}, []int{1, 2, 3, 4, 5, 6, 7}, 2},
		{Query{Since: noon.Add(3 * time.Second)}, []int{3, 4, 5, 6, 7}, 2},
		{Query{Since: noon.Add(3 * time.Second), Last: 3}, []int{5, 6, 7}, 2},
		{Query{Since: noon.Add(time.Hour)}, nil, 2},
	} {
		list, err := Read(dir, test.q)
		if err != nil || !slices.Equal(pids(list), test.want) || list.Skipped != test.skipped {
			t.Errorf("%+v: %v, %d skipped, %v", test.q, pids(list), list.Skipped, err)
		}
	}
	if e := all(t, dir).Events[0]; e != event(1) {
		t.Errorf("%+v", e)
	}
}

// A rotated file that ended long ago is not read for what is new.
func TestReadLeavesOldFilesAlone(t *testing.T) {
	dir := t.TempDir()
	old := in(dir, "events-2026-11-20T11-00-00.000.jsonl")
	write(t, old, line(1)+"rubbish\n")
	if err := os.Chtimes(old, noon, noon); err != nil {
		t.Fatal(err)
	}
	write(t, in(dir, "events.jsonl"), line(2))
	list, err := Read(dir, Query{Since: noon.Add(time.Second)})
	if err != nil || list.Skipped != 0 || !slices.Equal(pids(list), []int{2}) {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestReadNothing(t *testing.T) {
	dir := t.TempDir()
	for _, dir := range []string{dir, in(dir, "missing")} {
		if list := all(t, dir); len(list.Events)+list.Skipped != 0 {
			t.Errorf("%+v", list)
		}
	}
	write(t, in(dir, "file"), "")
	if _, err := Read(in(dir, "file"), Query{}); err == nil {
		t.Error("a file in the place of a directory passes for one")
	}
}

// What cannot be read does not hide the rest.
func TestReadWhatCanBeRead(t *testing.T) {
	dir := t.TempDir()
	write(t, in(dir, "events-2026-11-20T11-00-00.000.jsonl"), line(1))
	if err := os.Mkdir(in(dir, "events.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	list, err := Read(dir, Query{})
	if err == nil || !strings.Contains(err.Error(), "events.jsonl: it is a directory") || !slices.Equal(pids(list), []int{1}) {
		t.Errorf("%+v, %v", list, err)
	}
}

// However a file grows, its lines come out whole and once.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 40_000)
	rapid.Check(t, func(t *rapid.T) {
		path := in(dir, "lines")
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", " ", "\r\n", "bc", long})).Draw(t, "parts")
		var got []string
		each := func(line []byte) { got = append(got, string(line)) }
		text, at := "", int64(0)
		for _, part := range parts {
			text += part
			err := os.WriteFile(path, []byte(text), 0o600)
			if err == nil {
				at, err = readFile(path, at, each)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for line := range strings.Lines(text) {
			whole, ended := strings.CutSuffix(line, "\n")
			switch line := strings.TrimSpace(whole); {
			case !ended:
			case line != "":
				want = append(want, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d lines, want %d", len(got), len(want))
		}
	})
}

// following is a Follow under way, in a bubble of testing/synctest.
type following struct {
	dir     string
	pids    []int
	skipped int
}

func follow(t *testing.T, dir string, q Query) *following {
	f := &following{dir: dir}
	go func() {
		err := Follow(t.Context(), dir, q, func(list List) error {
			f.pids = append(f.pids, pids(list)...)
			f.skipped += list.Skipped
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}()
	synctest.Wait()
	return f
}

// sees appends to the log and expects what was seen so far.
func (f *following) sees(t *testing.T, appended string, want ...int) {
	t.Helper()
	file, err := os.OpenFile(path(f.dir), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = file.WriteString(appended)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(followEvery)
	synctest.Wait()
	if !slices.Equal(f.pids, want) {
		t.Errorf("saw %v, want %v", f.pids, want)
	}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write(t, in(dir, "events-2026-11-20T11-00-00.000.jsonl"), line(1))
		write(t, path(dir), line(2)+line(3))
		f := follow(t, dir, Query{Last: 2})
		f.sees(t, "", 2, 3)
		f.sees(t, line(4), 2, 3, 4)
		f.sees(t, line(5)+line(6)+line(7)[:20], 2, 3, 4, 5, 6)
		f.sees(t, line(7)[20:]+"rubbish\n", 2, 3, 4, 5, 6, 7)
		if f.skipped != 1 {
			t.Errorf("skipped %d", f.skipped)
		}
		if err := os.Rename(path(dir), in(dir, "events-2026-11-20T12-00-00.000.jsonl")); err != nil {
			t.Fatal(err)
		}
		f.sees(t, line(8), 2, 3, 4, 5, 6, 7, 8)
		f.sees(t, line(9), 2, 3, 4, 5, 6, 7, 8, 9)
	})
}

func TestFollowWhatIsNotThereYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := in(in(t.TempDir(), "a"), "state")
		f := follow(t, dir, Query{})
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		f.sees(t, line(1), 1)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(followEvery)
		synctest.Wait()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		f.sees(t, line(2), 1, 2)
	})
}

func TestFollowEnds(t *testing.T) {
	dir, enough := t.TempDir(), errors.New("enough")
	write(t, path(dir), line(1))
	calls := 0
	err := Follow(t.Context(), dir, Query{}, func(List) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	dir = t.TempDir()
	if err := os.Mkdir(path(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Follow(t.Context(), dir, Query{}, nil); err == nil || !strings.Contains(err.Error(), "a directory, not a file") {
		t.Error(err)
	}
}
