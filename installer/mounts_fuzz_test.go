package installer

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzMountBelow: in any table what is found is on the path or below it, and what
// the kernel has mounted there is found, whatever it is called. The kernel escapes
// no other white space than this (show_mountinfo in fs/proc_namespace.c of Linux).
func FuzzMountBelow(f *testing.F) {
	f.Add("30 22 8:1 /data /home/ann/st/keys/a\\040b rw - ext4 /dev/sda1 rw\nshort\n", "/home/ann/st")
	f.Add("1 2 3 4 \\0", "/")
	f.Add("", "/no-break\u00a0space")
	f.Add("22 1 0:20 / /\r\n", "/a\r\v\f\u0085\u2003b\\040\t\n")
	f.Add("22 1 0:20 / /ann//0", "/0") // the kernel writes no empty element, but a table of any text may
	escaped := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)
	f.Fuzz(func(t *testing.T, table, path string) {
		path = "/ann/" + strings.Trim(path, "/")
		if strings.ContainsRune(path, 0) || filepath.Clean(path) != path {
			return // the kernel writes none, and nobody asks for one
		}
		if at, ok := mountBelow(table, path); ok && !strings.HasPrefix(filepath.Clean(at)+"/", path+"/") {
			t.Errorf("%q is not below %q", at, path)
		}
		line := "30 22 8:1 / " + escaped.Replace(path) + " rw - ext4 /dev/sda1 rw\n"
		if at, ok := mountBelow("22 1 0:20 / /else rw - ext4 /dev/vda rw\n"+line, path); !ok || at != path {
			t.Errorf("below %q: %q, %v", path, at, ok)
		}
	})
}
