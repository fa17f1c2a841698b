package mounts

import (
	"slices"
	"testing"
)

func TestAll(t *testing.T) {
	const table = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
25 22 8:2 /ann/work /mnt/with\040space\012and\134more rw - ext4 /dev/sda2 rw
27 22 0:4 net:[4026531840] /run/netns/x rw - nsfs nsfs rw
what is this
30 22 8:2 / /short

28 22 8:2 / /\400\08x\ ro - ext4 /dev/sda2 rw
` + "31 22 8:2 / /no-break\u00a0space rw\n32 22 8:2 / /a\v\f\u0085\u2003b\\134040\\011 rw\n" + `29 22 8:2 / /last ro`
	want := []Mount{
		{"8:1", "/", "/", "rw,relatime"},
		{"8:2", "/ann/work", "/mnt/with space\nand\\more", "rw"},
		{"0:4", "net:[4026531840]", "/run/netns/x", "rw"},
		{"8:2", "/", `/\400\08x\`, "ro"},
		{"8:2", "/", "/no-break\u00a0space", "rw"},
		{"8:2", "/", "/a\v\f\u0085\u2003b\\040\t", "rw"},
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
