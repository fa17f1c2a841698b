package share

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

const passwd = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1::/:/usr/sbin/nologin
me:x:1000:1000::/home/me:/bin/bash
bob:x:1001:1001:Bob,,,:/home/bob:/bin/zsh
ci:x:1002:1002::/srv/ci:/usr/sbin/nologin
nobody:x:65534:65534::/:/usr/sbin/nologin
rubbish
bad:x:many:1::/:/bin/sh
`

func TestOtherUsers(t *testing.T) {
	for _, test := range []struct {
		name  string
		files string // paths; those in proc belong to the user whose id they end with
		want  string
	}{
		{"nobody", "proc/1/0", ""},
		{"a process of ours", "proc/1/0 proc/10/1000", ""},
		{"a process of bob", "proc/1/0 proc/10/1001 proc/11/1001", "bob"},
		{"services", "proc/1/0 proc/11/1 proc/12/65534 proc/13/1002", ""},
		{"a container", "proc/1/0 proc/10/1234 proc/11/100999 run/user/1000/bus", ""},
		{"no process", "proc/1/0 proc/self/1001", ""},
		{"who has logged in", "proc/1/0 run/user/1000/bus run/user/1001/bus run/user/0/bus run/user/x/bus", "bob"},
		{"of a directory service", "proc/1/0 run/user/2001/bus", "user id 2001"},
		{"of Active Directory", "proc/1/0 run/user/1668601103/bus", "user id 1668601103"},
		{"nobody's and login screens", "proc/1/0 run/user/65534/x run/user/65535/x run/user/60578/x run/user/60705/x run/user/999/x", ""},
		{"several", "proc/1/0 proc/2/1001 run/user/2001/bus", "bob user id 2001"},
		{"hidden processes", "proc/10/1000 run/user/1000/bus run/user/1001/bus", "bob"},
		{"hidden processes, and no logind", "proc/10/1000", "unknown"},
		{"hidden processes, and a logind that does not know us", "proc/10/1000 run/user/0/bus", "unknown"},
		{"of a directory service, without logind", "proc/1/0 proc/10/2001", "user id 2001"},
		{"of a directory service, who come in past logind", "proc/1/0 proc/10/2001 run/user/0/bus", "user id 2001"},
		{"of no account, where logind knows all", "proc/1/0 proc/10/2001 run/user/1000/bus", ""},
		{"services, without logind", "proc/1/0 proc/10/1002 proc/11/61184", ""},
		{"nothing can be read", "", "unknown"},
	} {
		files := fstest.MapFS{"etc/passwd": {Data: []byte(passwd)}}
		for _, name := range strings.Fields(test.files) {
			uid, _ := strconv.Atoi(path.Base(name)) // in proc
			files[path.Dir(name)] = &fstest.MapFile{Mode: fs.ModeDir, Sys: &syscall.Stat_t{Uid: uint32(uid)}}
		}
		found, err := othersIn(files, 1000)
		got := strings.Join(slices.Sorted(maps.Keys(found)), " ")
		if err != nil {
			got = "unknown"
		}
		if got != test.want {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// Where processes cannot be listed, as without a free descriptor, nobody knows who has some.
func TestProcessesThatCannotBeListed(t *testing.T) {
	files := unlisted{fstest.MapFS{"proc/1": {Mode: fs.ModeDir, Sys: &syscall.Stat_t{}}}}
	if found, err := othersIn(files, 1000); err == nil {
		t.Errorf("found %v", found)
	}
}

// unlisted are files whose directories cannot be read.
type unlisted struct{ fstest.MapFS }

func (unlisted) ReadDir(string) ([]fs.DirEntry, error) { return nil, syscall.EMFILE }
