package confine

import (
	"strings"
	"testing"
)

// FuzzMountsAt: of any table each path is there once and is asked for, and what the
// kernel has mounted is found with its flags, whatever it is called. The kernel
// escapes no other white space than this (show_mountinfo in fs/proc_namespace.c).
func FuzzMountsAt(f *testing.F) {
	f.Add("22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw\n23 22 0:21 / /home ro,noexec - tmpfs x rw\nbroken\n", "/home")
	f.Add("", "/no-break\u00a0space")
	f.Add("22 1 0:20 / /\r\n", "/a\r\v\f\u0085\u2003b\\040\t\n")
	escaped := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)
	f.Fuzz(func(t *testing.T, table, path string) {
		path = "/" + strings.Trim(path, "/")
		seen := map[string]bool{}
		for _, m := range mountsAt(table, path, true) {
			if seen[m.path] || !within(m.path, path) {
				t.Errorf("at %q: %q, %v", path, m.path, seen)
			}
			seen[m.path] = true
		}
		// What it is said to be mounted from stands before it.
		line := "23 22 0:21 " + escaped.Replace(path) + " " + escaped.Replace(path) + " ro,noexec - tmpfs x rw\n"
		got := mountsAt(line, path, false)
		if len(got) != 1 || got[0].path != path || got[0].flags != mountFlags["ro"]|mountFlags["noexec"] {
			t.Errorf("at %q: %+v", path, got)
		}
		if strings.Trim(path, "abc/") == "" && !mountedAt(line, path) {
			t.Errorf("nothing is mounted at %q", path)
		}
	})
}
