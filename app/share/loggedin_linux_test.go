package share

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// record makes one of utmp.
func record(kind uint16, user string, size int) []byte {
	r := make([]byte, size)
	binary.NativeEndian.PutUint16(r, kind)
	copy(r[utmpUser:utmpUserEnd], user)
	return r
}

func TestOtherUsers(t *testing.T) {
	size := utmpSize("amd64")
	if utmpSize("arm64") != 400 || size != 384 {
		t.Error("the layout of utmp")
	}
	const us = "firstname.lastname@subsidiary.example.com" // utmp holds 32 bytes of it
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nobody", nil, ""},
		{"a process of ours", map[string]string{"proc/10/owner": "1000"}, ""},
		{"a process of bob", map[string]string{"proc/10/owner": "1001", "proc/11/owner": "1001"}, "bob"},
		{"services", map[string]string{"proc/10/owner": "0", "proc/11/owner": "1", "proc/12/owner": "65534", "proc/13/owner": "1002"}, ""},
		{"a container", map[string]string{"proc/10/owner": "1234", "proc/11/owner": "100999"}, ""},
		{"no process", map[string]string{"proc/self/owner": "1001", "proc/12/other": ""}, ""},
		{"a manager of systemd", map[string]string{"run/user/1000/bus": "", "run/user/1001/bus": "", "run/user/0/bus": "", "run/user/x/bus": ""}, "bob"},
		{"of a directory service", map[string]string{"run/user/2001/bus": ""}, "user id 2001"},
		{"of Active Directory", map[string]string{"run/user/1668601103/bus": ""}, "user id 1668601103"},
		{"a session of Active Directory", map[string]string{"run/systemd/sessions/3": "UID=1668601103\nCLASS=user\n"}, "user id 1668601103"},
		{"nobody's and login screens", map[string]string{"run/user/65534/bus": "", "run/user/65535/bus": "", "run/user/60578/bus": "", "run/user/60705/bus": "", "run/user/999/bus": ""}, ""},
		{"sessions", map[string]string{"run/systemd/sessions/1": "# mine\nUID=1000\nUSER=me\n", "run/systemd/sessions/2": "UID=1001\nCLASS=user\nSTATE=online\n"}, "bob"},
		{"a login screen", map[string]string{"run/systemd/sessions/c1": "UID=1001\nCLASS=greeter\n"}, ""},
		{"rubbish", map[string]string{"run/systemd/sessions/1": "UID=\nUID", "run/utmp": "short"}, ""},
		{"utmp", map[string]string{"run/utmp": string(slices.Concat(record(2, "reboot", size), record(7, "me", size), record(7, "bob", size), record(8, "ci", size), record(7, "root", size), []byte("cut")))}, "bob"},
		{"utmp of a directory service", map[string]string{"run/utmp": string(record(7, "anna", size))}, "anna"},
		{"utmp, and we are of a directory service", map[string]string{"run/utmp": string(record(7, us, size))}, ""},
		{"several", map[string]string{"proc/1/owner": "1001", "run/user/2001/bus": "", "run/utmp": string(record(7, "bob", size))}, "bob user id 2001"},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "proc"), 0o700); err != nil {
			t.Fatal(err)
		}
		write := func(name, text string) {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("etc/passwd", passwd)
		for name, text := range test.files {
			write(name, text)
		}
		found, err := people{root: root, own: 1000, me: us, size: size, owner: func(path string) (int, bool) {
			text, err := os.ReadFile(filepath.Join(path, "owner"))
			n := 0
			for _, c := range text {
				n = 10*n + int(c-'0')
			}
			return n, err == nil
		}}.others()
		var names []string
		for name := range found {
			names = append(names, name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != test.want || err != nil {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
	if _, err := (people{root: t.TempDir(), own: 1000, size: size, owner: ownerOf}).others(); err == nil {
		t.Error("nothing can be read, and that is no error")
	}
}
