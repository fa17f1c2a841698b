package inuse

import (
	"slices"
	"testing"
)

const mountinfo = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:5 / /proc rw - proc proc rw
24 22 8:2 / /home rw - ext4 /dev/sda2 rw
25 22 8:2 /ann/work /mnt/with\040space rw - ext4 /dev/sda2 rw
26 22 8:2 /ann/work/ws/sub /mnt/part rw - ext4 /dev/sda2 rw
27 22 0:4 net:[4026531840] /run/netns/x rw - nsfs nsfs rw
28 22 8:2 / /hidden rw - ext4 /dev/sda2 rw
29 28 0:30 / /hidden/ann rw - tmpfs tmpfs rw
what is this
30 22 8:2
`

func TestPlacesOfADirectory(t *testing.T) {
	mounts := parseMounts([]byte(mountinfo))
	if len(mounts) != 7 {
		t.Fatalf("%d mounts: %v", len(mounts), mounts)
	}
	p, ok := placeOf(mounts, "/home/ann/work/ws")
	if want := (place{"8:2", "/ann/work/ws"}); !ok || p != want {
		t.Fatalf("%v, %v", p, ok)
	}
	names := p.names(mounts)
	slices.Sort(names)
	if want := []string{"/home/ann/work/ws", "/mnt/part", "/mnt/with space/ws"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	root, ok := placeOf(mounts, "/srv/x")
	if want := (place{"8:1", "/srv/x"}); !ok || root != want {
		t.Errorf("%v, %v", root, ok)
	}
	if p, ok := placeOf(nil, "/srv/x"); ok {
		t.Errorf("without mounts: %v", p)
	}
}

func TestBelow(t *testing.T) {
	for _, test := range []struct {
		name, dir, rest string
		ok              bool
	}{
		{"/a/b", "/a/b", "", true},
		{"/a/b/c", "/a/b", "/c", true},
		{"/a/bc", "/a/b", "", false},
		{"/a", "/a/b", "", false},
		{"/a", "/", "/a", true},
		{"pipe:[1]", "/", "", false},
	} {
		rest, ok := below(test.name, test.dir)
		if ok != test.ok || ok && rest != test.rest {
			t.Errorf("%q below %q: %q, %v", test.name, test.dir, rest, ok)
		}
	}
}

const listing = "p12\ncbash\nfcwd\nn/home/ann/ws\nfrtd\nn/\nftxt\nn/bin/bash\n" +
	"p13\nctail\nfcwd\nn/\nf3\nn/home/ann/ws/log\nf4\nn/home/ann/ws/other\n" +
	"p14\nclamplighter\nfcwd\nn/home/ann/ws\nf5\nn/home/ann/ws\nf6\nn/home/ann/ws/db\n" +
	"p15\nctool\nftxt\nn/home/ann/ws/bin/tool\n" +
	"p16\ncvi\nfcwd\nn/home/ann/ws2\nf3\n\nn/home/ann\n" +
	"pnone\ncodd\nfcwd\nn/home/ann/ws\n" +
	"p17\nclamplighter\nfcwd\nn/home/ann/ws\n"

func TestParseLsof(t *testing.T) {
	isDir := func(path string) bool { return path == "/home/ann/ws" }
	want := []Process{
		{12, "bash", "works in /home/ann/ws"},
		{13, "tail", "has /home/ann/ws/log open"},
		{14, "lamplighter", "has /home/ann/ws/db open"},
		{15, "tool", "runs /home/ann/ws/bin/tool"},
		{17, "lamplighter", "works in /home/ann/ws"},
	}
	if got := parseLsof(listing, "/home/ann/ws", 14, isDir); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if got := parseLsof(listing, "/home/ann/ws", 17, isDir); slices.ContainsFunc(got, func(p Process) bool { return p.PID == 17 }) {
		t.Errorf("our own process is in %v", got)
	}
}
