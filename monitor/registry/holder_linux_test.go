package registry

import "testing"

func TestParseLocks(t *testing.T) {
	const list = `1: POSIX  ADVISORY  WRITE 11 08:01:1234 0 EOF
2: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF
2: -> FLOCK  ADVISORY  WRITE 4712 08:01:99 0 EOF
3: FLOCK  ADVISORY  READ 77 00:2a:34 0 EOF
bad
`
	for inode, want := range map[uint64]int{1234: 4711, 34: 77, 4: 0, 99: 0, 0: 0} {
		if got := parseLocks([]byte(list), inode); got != want {
			t.Errorf("inode %d: %d, want %d", inode, got, want)
		}
	}
}
