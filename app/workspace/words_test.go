package workspace

import (
	"testing"
	"time"
)

func TestProgressInWords(t *testing.T) {
	for _, test := range []struct {
		p    Progress
		want string
	}{
		{Progress{Phase: Waiting, Percent: -1, Left: -1}, "waiting for a place"},
		{Progress{Phase: Counting, Files: 1234, FilesTotal: -1, Bytes: 99, BytesTotal: -1, Percent: -1, Left: -1}, "counting: 1234 files"},
		{Progress{Phase: Counting, FilesTotal: -1, BytesTotal: -1, Percent: -1, Left: -1}, "counting"},
		{Progress{Phase: Copying, Files: 3, FilesTotal: 9, Bytes: 1.2e9, BytesTotal: 2.6e9, Percent: 46, Left: 12 * time.Second}, "copying: 46 %, 1.2 GB of 2.6 GB, 12 s left"},
		{Progress{Phase: Copying, Bytes: 5, BytesTotal: 10, Percent: 50, Left: -1}, "copying: 50 %, 5 B of 10 B"},
		{Progress{Phase: CheckedBy, Files: 3, FilesTotal: 9, BytesTotal: -1, Percent: 33, Left: -1}, "checking out: 33 %, 3 of 9 files"},
		{Progress{Phase: Packing, Bytes: 10, BytesTotal: 10, Percent: 100, Left: 0}, "packing: 100 %, 10 B of 10 B"},
	} {
		if got := test.p.Words(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.p, got, test.want)
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		-1: "unknown", 0: "0 B", 9: "9 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 9_949: "9.9 kB", 9_951: "10 kB", 999_499: "999 kB",
		999_500: "1.0 MB", 34_000_000_000: "34 GB", 1 << 62: "4612 PB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}

// A few bytes are not worth a number, and what is is told as any other size.
func TestFreed(t *testing.T) {
	for bytes, want := range map[int64]string{1: "less than 1 kB", 999: "less than 1 kB", 1000: "1.0 kB", 1_200_000_000: "1.2 GB"} {
		if got := Freed(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}

func TestWhoHoldsThePlaces(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	soon := at.Add(3 * time.Hour)
	holders := func(n int) []Workspace {
		var list []Workspace
		for range n {
			list = append(list, Workspace{Name: "alpha-fix-1a2b3c4d"})
		}
		return list
	}
	for _, test := range []struct {
		e    TooMany
		want string
	}{
		{TooMany{Holders: holders(1), FreeAt: &soon}, "they are held by alpha-fix-1a2b3c4d; one is due to be free in 3 h"},
		{TooMany{Holders: holders(2)}, "they are held by alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d; none of them has an end that is known"},
		{TooMany{Holders: holders(7)[:6], FreeAt: &at}, "they are held by alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, alpha-fix-1a2b3c4d, and 1 more; one is due to be free now"},
		{TooMany{FreeAt: &soon}, "one is due to be free in 3 h"},
	} {
		if got := test.e.Held(at); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
