package mounts

import (
	"slices"
	"strings"
	"testing"
)

func TestAll(t *testing.T) {
	const table = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
25 22 8:2 /ann/work /mnt/with\040space\012and\134more rw - ext4 /dev/sda2 rw
27 22 0:4 net:[4026531840] /run/netns/x rw - nsfs nsfs rw
what is this
30 22 8:2 / /short

28 22 8:2 / /\400\08x\ ro - ext4 /dev/sda2 rw
29 22 8:2 / /last ro`
	want := []Mount{
		{"8:1", "/", "/", "rw,relatime"},
		{"8:2", "/ann/work", "/mnt/with space\nand\\more", "rw"},
		{"0:4", "net:[4026531840]", "/run/netns/x", "rw"},
		{"8:2", "/", `/\400\08x\`, "ro"},
		{"8:2", "/", "/last", "ro"},
	}
	if got := slices.Collect(All(table)); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	for m := range All(table) {
		if m != want[0] {
			t.Errorf("%+v", m)
		}
		break
	}
}

// FuzzAll: what the kernel writes of a mount is read, whatever it is called and
// whatever stands before it.
func FuzzAll(f *testing.F) {
	f.Add("broken", "/a b")
	f.Add("", "/no-break\u00a0space")
	f.Add("22 1 0:20 / /\r\n", "/a\r\v\f\u0085\u2003b\\040\t\n")
	escaped := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)
	f.Fuzz(func(t *testing.T, table, path string) {
		line := "25 22 8:2 " + escaped.Replace(path) + " " + escaped.Replace(path) + " rw - ext4 /dev/sda2 rw\n"
		all := slices.Collect(All(table + "\n" + line))
		if want := (Mount{"8:2", path, path, "rw"}); len(all) == 0 || all[len(all)-1] != want {
			t.Errorf("%+v", all)
		}
	})
}
