package doctor

import (
	"strings"
	"testing"
)

// FuzzListensIn: in any table of sockets, only one that listens at that very path is
// found, and it is found whatever other programs have called theirs.
func FuzzListensIn(f *testing.F) {
	f.Add("Num       RefCount Protocol Flags    Type St Inode Path\n0000000000000000: 00000002 00000000 00010000 0001 01    12 /r/share.sock\n", "/r/share.sock")
	f.Add("nonsense\n\n0: 3 0 zzz 1 1 13 /r/strange.sock\n0: 2 0 10000 1 1 14 @/r/abstract.sock\n", "/r/my home/no-break\u00a0space.sock")
	f.Add("0: 2 0 10000 1 1 14 /a", " ")
	f.Fuzz(func(t *testing.T, table, path string) {
		if listensIn(table, path) && !strings.Contains(table, " "+path) {
			t.Errorf("nothing of %q listens at %q", table, path)
		}
		path = "/" + strings.ReplaceAll(path, "\n", "?")
		for _, test := range []struct {
			flags string
			want  bool
		}{{"00010000", true}, {"00000000", false}} {
			line := "0000000000000000: 00000002 00000000 " + test.flags + " 0001 01    12 " + path + "\n"
			if got := listensIn("0000000000000000: 00000002 00000000 00010000 0001 01 13\n"+line, path); got != test.want {
				t.Errorf("%q with the flags %s: %v", path, test.flags, got)
			}
		}
	})
}
