package inuse

import (
	"path"
	"strings"
	"testing"
)

// FuzzMappedIn: in any /proc/PID/maps what is found is inside, and a file that is
// mapped there is found whatever it is called.
//
// Source: show_map_vma in fs/proc/task_mmu.c of Linux, which escapes line feeds alone.
func FuzzMappedIn(f *testing.F) {
	f.Add("7f00-7f01 r-xp 00000000 08:01 42                         /home/ann/ws/lib.so\n7f02-7f03 rw-p 00000000 00:00 0 \n", "/home/ann/ws", "lib.so")
	f.Add("7f00-7f01 r-xp 0 08:01 42 /home/ann/ws2/lib.so (deleted)\n", "/home/ann/ws", "a b\nc")
	f.Add(" / /a /a/b\n", "/a", " /a")
	f.Fuzz(func(t *testing.T, text, dir, name string) {
		dir = path.Clean("/" + dir)
		n := (&search{}).named([]string{dir})
		if how := mappedIn([]byte(text), n); how != "" && dir != "/" && !strings.Contains(text, strings.ReplaceAll(dir, "\n", `\012`)) {
			t.Errorf("%q: %s", text, how)
		}
		file := path.Join(dir, "x"+strings.ReplaceAll(name, "/", "_"))
		line := "7f00-7f01 r-xp 00000000 08:01 42                         " + strings.ReplaceAll(file, "\n", `\012`) + "\n"
		if mappedIn([]byte("7f02-7f03 rw-p 00000000 00:00 0 \n"+line), n) == "" {
			t.Errorf("%q is not in %q", file, dir)
		}
	})
}
