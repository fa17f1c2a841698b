package events

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, in(dir, "events-2026-11-20T11-00-00.000.jsonl"), line(3)+line(4))
	write(t, in(dir, "events-2026-11-20T10-00-00.000.jsonl"), line(1)+line(2)+`{"at":`)
	write(t, in(dir, "events.jsonl"), line(5)+"\n"+"rubbish\n"+strings.Repeat("x", 3*longestLine)+"\n"+line(6)+strings.TrimSuffix(line(7), "\n"))
	for _, name := range []string{"events-2026.jsonl", "events-2026-11-20T11-00-00.000.jsonl.bak", "other.jsonl"} {
		write(t, in(dir, name), line(99))
	}
	for _, test := range []struct {
		q       Query
		want    []int
		skipped int
	}{
		{Query{}, []int{1, 2, 3, 4, 5, 6, 7}, 3},
		{Query{Last: 2}, []int{6, 7}, 3},
		{Query{Last: 4}, []int{4, 5, 6, 7}, 3},
		{Query{Last: 100}, []int{1, 2, 3, 4, 5, 6, 7}, 3},
		{Query{Since: noon.Add(3 * time.Second)}, []int{3, 4, 5, 6, 7}, 3},
		{Query{Since: noon.Add(3 * time.Second), Last: 3}, []int{5, 6, 7}, 3},
		{Query{Since: noon.Add(time.Hour)}, nil, 3},
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
	// Windows does not tell what is below a file from what is missing.
	if _, err := Read(in(dir, "file"), Query{}); (err == nil) != (runtime.GOOS == "windows") {
		t.Errorf("a file in the place of a directory: %v", err)
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

func TestRotatedAt(t *testing.T) {
	name := func(ms int) string { return fmt.Sprintf("events-2026-11-20T12-00-00.%03d.jsonl", ms) }
	for _, test := range []struct {
		taken []string
		want  string
	}{
		{nil, name(0)},
		{[]string{"events-2026-11-20T11-59-59.999.jsonl"}, name(0)},
		{[]string{name(0), name(1)}, name(2)},
		{[]string{name(7)}, name(8)}, // the clock was set back
	} {
		if got := rotatedAt(noon, test.taken); got != test.want || !rotatedName.MatchString(got) {
			t.Errorf("%v: %s, want %s", test.taken, got, test.want)
		}
	}
}
