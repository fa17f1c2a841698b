package share

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"syscall"
)

// What lies below firstPerson is the system's. A directory (SSSD, Active
// Directory) gives its people any number above. Login screens have some of their
// own, so have services to which systemd gives one while they run, and nobody's
// id stands for those who have none here. Source:
// systemd.io/UIDS-GIDS, and GREETER_UID_MIN and _MAX of systemd.
const (
	firstPerson  = 1000
	firstGreeter = 60578
	lastGreeter  = 60705
	firstDynamic = 61184
	lastDynamic  = 65519
	nobody       = 65534
	nobody16     = 65535
)

func isPerson(uid int) bool {
	return uid >= firstPerson && uid != nobody && uid != nobody16 && (uid < firstGreeter || uid > lastGreeter)
}

func otherUsers() (map[string]bool, error) { return othersIn(os.DirFS("/"), os.Getuid()) }

// othersIn are, in the files of a system, those but ourselves who have a runtime
// directory, which logind makes for each who logs in, and those who log in here and have
// a process. Where logind does not know us it is not how people come in, or is not there:
// then who has a process and no account here may be of a directory service, and where
// processes of others are hidden, it cannot be known.
func othersIn(files fs.FS, own int) (map[string]bool, error) {
	users, _ := numbers(files, "run/user") // then logind is not there
	processes, err := numbers(files, "proc")
	if _, hidden := fs.Stat(files, "proc/1"); err == nil && hidden != nil {
		err = errors.New("the processes of other users are hidden")
	}
	isLogind := slices.Contains(users, own)
	names := accounts(files)
	for _, pid := range processes {
		info, err := fs.Stat(files, path.Join("proc", strconv.Itoa(pid)))
		if err != nil {
			continue // it has ended
		}
		uid := int(info.Sys().(*syscall.Stat_t).Uid)
		name, isHere := names[uid]
		isUnknown := !isHere && !isLogind && (uid < firstDynamic || uid > lastDynamic)
		if name != "" || isUnknown {
			users = append(users, uid)
		}
	}
	found := map[string]bool{}
	for _, uid := range users {
		if uid != own && isPerson(uid) {
			found[cmp.Or(names[uid], "user id "+strconv.Itoa(uid))] = true
		}
	}
	if isLogind {
		err = nil
	}
	return found, err
}

// numbers are the entries of a directory that have a number for a name.
func numbers(files fs.FS, dir string) (list []int, err error) {
	entries, err := fs.ReadDir(files, dir)
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			list = append(list, n)
		}
	}
	return list, err
}

// account is a line of /etc/passwd: the name, the id and the program of the shell.
var account = regexp.MustCompile(`(?m)^([^:\n]*):[^:\n]*:(\d+)(?::[^:\n]*){3}:(?:.*/)?([^/\n]*)$`)

// accounts are the names in /etc/passwd, "" for those who have no shell. Lines that are
// none say nothing.
func accounts(files fs.FS) map[int]string {
	text, _ := fs.ReadFile(files, "etc/passwd") // then it says nothing
	names := map[int]string{}
	for _, line := range account.FindAllStringSubmatch(string(text), -1) {
		uid, _ := strconv.Atoi(line[2]) // digits that are too many are nobody's
		name, shell := line[1], line[3]
		if shell == "nologin" || shell == "false" {
			name = names[uid]
		}
		names[uid] = name
	}
	return names
}
