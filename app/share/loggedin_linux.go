package share

import (
	"errors"
	"os"
	"path/filepath"
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
	owner func(path string) (uid int, ok bool)
}

func otherUsers() (map[string]bool, error) {
	return people{root: "/", own: os.Getuid(), owner: ownerOf}.others()
}

func ownerOf(path string) (int, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), ok
}

// others are those who have a runtime directory, which logind makes for each who logs
// in, and those who log in here and have a process. Where there is no logind, and
// processes of others are hidden, it cannot be known.
func (p people) others() (map[string]bool, error) {
	processes, err := p.numbers("proc")
	if _, first := p.owner(filepath.Join(p.root, "proc", "1")); err == nil && !first {
		err = errors.New("the processes of other users are hidden")
	}
	users, usersErr := p.numbers("run/user")
	names := p.logins()
	found := map[string]bool{}
	add := func(uid int) {
		name, ok := names[uid]
		if !ok {
			name = "user id " + strconv.Itoa(uid)
		}
		if uid != p.own && isPerson(uid) {
			found[name] = true
		}
	}
	for _, uid := range users {
		add(uid)
	}
	for _, pid := range processes {
		// Programs in containers have user ids that nobody here has, and services log
		// in nowhere.
		uid, ok := p.owner(filepath.Join(p.root, "proc", strconv.Itoa(pid)))
		if _, logsIn := names[uid]; ok && logsIn {
			add(uid)
		}
	}
	if err != nil && usersErr != nil {
		return found, errors.Join(err, usersErr)
	}
	return found, nil
}

// numbers are the entries of a directory that have a number for a name.
func (p people) numbers(dir string) (list []int, err error) {
	entries, err := os.ReadDir(filepath.Join(p.root, dir))
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			list = append(list, n)
		}
	}
	return list, err
}

// logins are the names of those in /etc/passwd who have a shell. Lines that are none
// say nothing.
func (p people) logins() map[int]string {
	text, _ := os.ReadFile(filepath.Join(p.root, "etc/passwd")) // then it says nothing
	names := map[int]string{}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(field) < 7 {
			continue
		}
		shell := filepath.Base(field[6])
		if uid, err := strconv.Atoi(field[2]); err == nil && shell != "nologin" && shell != "false" {
			names[uid] = field[0]
		}
	}
	return names
}
