package inuse

import "testing"

// A mapped file is found whatever it is called, and none beside the directory is
// taken for one inside.
//
// Source: show_map_vma in fs/proc/task_mmu.c of Linux, which escapes line feeds alone.
func TestMappedIn(t *testing.T) {
	n := (&search{}).named([]string{"/home/ann/ws"})
	for line, inside := range map[string]bool{
		"7f00-7f01 r-xp 00000000 08:01 42                         /home/ann/ws/lib.so\n":              true,
		"7f00-7f01 r-xp 00000000 08:01 42                         /home/ann/ws/a b\\012c (deleted)\n": true,
		"7f00-7f01 r-xp 0 08:01 42 /home/ann/ws2/lib.so (deleted)\n":                                  false,
		"7f02-7f03 rw-p 00000000 00:00 0 \n":                                                          false,
	} {
		if how := mappedIn([]byte("7f02-7f03 rw-p 00000000 00:00 0 \n"+line), n); (how != "") != inside {
			t.Errorf("%q: %q", line, how)
		}
	}
}
