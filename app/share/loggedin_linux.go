package share

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// What lies below firstPerson is the system's. A directory (SSSD, Active
// Directory) gives its people any number above. Login screens have some of their
// own, and nobody's id stands for those who have none here. Source:
// systemd.io/UIDS-GIDS, and GREETER_UID_MIN and _MAX of systemd.
const (
	firstPerson  = 1000
	firstGreeter = 60578
	lastGreeter  = 60705
	nobody       = 65534
	nobody16     = 65535
)

func isPerson(uid int) bool {
	return uid >= firstPerson && uid != nobody && uid != nobody16 && (uid < firstGreeter || uid > lastGreeter)
}

// people looks for users in the files of a Linux system.
type people struct {
	root  string // of the file system
	own   int    // our user id
	me    string // our name, which need not be in /etc/passwd; "" when it is not known
	size  int    // of a record of utmp
	owner func(path string) (uid int, ok bool)
}

func otherUsers() (map[string]bool, error) {
	me := ""
	if u, err := user.Current(); err == nil { // else everybody in utmp is another user
		me = u.Username
	}
	return people{root: "/", own: os.Getuid(), me: me, size: utmpSize(runtime.GOARCH), owner: ownerOf}.others()
}

func ownerOf(path string) (int, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), ok
}

// account is a line of /etc/passwd.
type account struct {
	name   string
	uid    int
	logsIn bool
}

// others asks everything that may know of a user: a session is listed by logind
// or in utmp, a manager of systemd has a runtime directory, and all else that
// runs is a process. Where processes of others are hidden, the others still
// tell. It is an error when nothing can be read.
func (p people) others() (map[string]bool, error) {
	found := map[string]bool{}
	accounts := parsePasswd(p.read("etc/passwd"))
	name := func(uid int) string {
		for _, a := range accounts {
			if a.uid == uid {
				return a.name
			}
		}
		return "user id " + strconv.Itoa(uid)
	}
	add := func(uid int) {
		if uid != p.own && isPerson(uid) {
			found[name(uid)] = true
		}
	}
	processes, err := os.ReadDir(filepath.Join(p.root, "proc"))
	for _, entry := range processes {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		// Programs in containers have user ids that nobody here has. Who has a
		// session is found below.
		if uid, ok := p.owner(filepath.Join(p.root, "proc", entry.Name())); ok && logsIn(accounts, uid) {
			add(uid)
		}
	}
	users, usersErr := os.ReadDir(filepath.Join(p.root, "run/user"))
	for _, entry := range users {
		if uid, err := strconv.Atoi(entry.Name()); err == nil {
			add(uid)
		}
	}
	sessions, sessionsErr := os.ReadDir(filepath.Join(p.root, "run/systemd/sessions"))
	for _, entry := range sessions {
		if uid, ok := sessionOf(p.read("run/systemd/sessions/" + entry.Name())); ok {
			add(uid)
		}
	}
	for _, user := range parseUtmp(p.read("run/utmp"), p.size) {
		known := p.me != "" && user == p.me[:min(len(p.me), utmpUserEnd-utmpUser)]
		for _, a := range accounts {
			if a.name == user && !known {
				known = true
				add(a.uid)
			}
		}
		if !known { // of a directory service
			found[user] = true
		}
	}
	if err != nil && usersErr != nil && sessionsErr != nil {
		return found, errors.Join(err, usersErr, sessionsErr)
	}
	return found, nil
}

// read returns a file, nothing when it cannot be read or is no such list.
func (p people) read(name string) []byte {
	path := filepath.Join(p.root, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > mostList {
		return nil
	}
	text, _ := os.ReadFile(path) // then it says nothing
	return text
}

const mostList = 8 << 20

// parsePasswd reads /etc/passwd. Lines that are none say nothing.
func parsePasswd(text []byte) []account {
	var list []account
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(field) < 7 {
			continue
		}
		uid, err := strconv.Atoi(field[2])
		if err != nil || uid < 0 {
			continue
		}
		shell := filepath.Base(field[6])
		list = append(list, account{field[0], uid, shell != "nologin" && shell != "false"})
	}
	return list
}

func logsIn(accounts []account, uid int) bool {
	for _, a := range accounts {
		if a.uid == uid {
			return a.logsIn
		}
	}
	return false
}

// sessionOf reads what logind writes of a session. Those of login screens are
// nobody's. Source: sd-login and logind-session.c of systemd.
func sessionOf(text []byte) (uid int, ok bool) {
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "="); name {
		case "UID":
			n, err := strconv.Atoi(value)
			uid, ok = n, err == nil
		case "CLASS":
			if value == "greeter" {
				return 0, false
			}
		}
	}
	return uid, ok
}

// The layout of a record of utmp. Source: utmp(5), bits/utmp.h of glibc.
const (
	utmpUser    = 44
	utmpUserEnd = utmpUser + 32
	userProcess = 7
)

// utmpSize is how long a record is: some processors have a longer time in it.
func utmpSize(goarch string) int {
	switch goarch {
	case "arm64", "riscv64", "loong64":
		return 400
	}
	return 384
}

// parseUtmp returns the users of utmp who are logged in, but root, who can do
// everything anyway. What is cut off at the end is no record.
func parseUtmp(data []byte, size int) []string {
	var users []string
	for ; len(data) >= size; data = data[size:] {
		if binary.NativeEndian.Uint16(data) != userProcess {
			continue
		}
		name, _, _ := bytes.Cut(data[utmpUser:utmpUserEnd], []byte{0})
		if len(name) > 0 && string(name) != "root" {
			users = append(users, string(name))
		}
	}
	return users
}
