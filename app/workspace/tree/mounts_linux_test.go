package tree

import (
	"strings"
	"testing"
)

func TestMountBelow(t *testing.T) {
	const table = `22 1 0:20 / / rw,relatime - ext4 /dev/vda rw
30 22 0:25 / /proc rw,nosuid - proc proc rw
31 22 8:1 /home/me /tmp/with\040space\012and\134more/in rw - ext4 /dev/vda rw
nonsense
32 22 0:26 / /tmp/work/a rw shared:1 - tmpfs tmpfs rw
33 22 0:27 / /tmp/worker rw - tmpfs tmpfs rw
`
	for path, want := range map[string]string{
		"/tmp/work":                  "/tmp/work/a",
		"/tmp/work/a":                "/tmp/work/a",
		"/tmp/work/a/b":              "",
		"/tmp/wor":                   "",
		"/tmp/with space\nand\\more": "/tmp/with space\nand\\more/in",
		"/":                          "/",
		"/home":                      "",
	} {
		if at, ok := mountBelow(table, path); at != want || ok != (want != "") {
			t.Errorf("below %q: %q, want %q", path, at, want)
		}
	}
}

// escaped is a path as the kernel writes it: no other white space is escaped.
//
// Source: show_mountinfo in fs/proc_namespace.c of Linux.
var escaped = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)

// FuzzMountBelow: in any table what is found is below the path, and what the kernel
// has mounted there is found, whatever it is called.
func FuzzMountBelow(f *testing.F) {
	f.Add("22 1 0:20 / /a\\040b rw - ext4 /dev/vda rw\n", "/a b")
	f.Add("1 2 3 4 \\0", "/")
	f.Add("", "/no-break\u00a0space")
	f.Add("22 1 0:20 / /\r\n", "/a\r\v\f\u0085\u2003b\\040\t\n")
	f.Fuzz(func(t *testing.T, table, path string) {
		if at, ok := mountBelow(table, path); ok && len(at) < len(path)-1 {
			t.Errorf("%q is not below %q", at, path)
		}
		path = "/" + strings.Trim(path, "/")
		want := strings.TrimSuffix(path, "/") + "/in"
		line := "30 22 0:26 / " + escaped.Replace(want) + " rw shared:1 - tmpfs tmpfs rw\n"
		if at, ok := mountBelow(line, path); !ok || at != want {
			t.Errorf("below %q: %q, %v", path, at, ok)
		}
	})
}
