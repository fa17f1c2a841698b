package registry

import (
	"fmt"
	"testing"
)

// FuzzParseLocks: any list names a process or none, and one that holds the lock is
// found behind whatever else there is.
func FuzzParseLocks(f *testing.F) {
	f.Add([]byte("1: POSIX  ADVISORY  WRITE 11 08:01:1234 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 08:01:99 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 4712 08:01:99 0 EOF\n"), uint64(1234))
	f.Add([]byte("3: FLOCK  MSNFS     READ  -1 00:2a:34 0 EOF\n4: FLOCK ADVISORY READ 0 00:2a:34 0 EOF\nbad\n"), uint64(34))
	f.Add([]byte("0 FLOCK 0 0 0 :34"), uint64(34))
	f.Fuzz(func(t *testing.T, list []byte, inode uint64) {
		if pid := parseLocks(list, inode); pid != 0 {
			if pid < 0 {
				t.Errorf("process %d", pid)
			}
			return
		}
		list = append(append([]byte(nil), list...), fmt.Sprintf("\n9: FLOCK  ADVISORY  WRITE 4711 fe:00:%d 0 EOF\n", inode)...)
		if pid := parseLocks(list, inode); pid != 4711 {
			t.Errorf("%d holds inode %d in %q", pid, inode, list)
		}
	})
}
