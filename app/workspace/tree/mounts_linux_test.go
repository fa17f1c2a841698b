package tree

import (
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
