package confine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mode is what a job may do with a place. Of two for the same place the greater
// one counts.
type mode int

const (
	hidden   mode = iota // nothing: it is empty
	scratch              // write, into a file system that is only its own
	writable             // write
	readOnly             // read
)

// place is a path that is not as the rest, which may only be read.
type place struct {
	Path string `json:"path"`           // resolved
	From string `json:"from,omitempty"` // what is shown there; "" of hidden and scratch
	Mode mode   `json:"mode"`
	Make bool   `json:"make,omitempty"` // it has to be made first, in what covers the place around it
}

// arrange puts places into the order in which they are mounted, so that what is
// deeper lies on top, and leaves out what nobody sees.
func arrange(places []place) []place {
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b place) int {
		if order := strings.Compare(a.Path, b.Path); order != 0 { // a path comes before what is in it
			return order
		}
		return int(b.Mode - a.Mode)
	})
	places = slices.CompactFunc(places, func(a, b place) bool { return a.Path == b.Path })
	var arranged []place
	for _, p := range places {
		around := -1 // the innermost place that it is in
		for i, other := range arranged {
			if within(p.Path, other.Path) && (around < 0 || len(other.Path) > len(arranged[around].Path)) {
				around = i
			}
		}
		if around >= 0 && arranged[around].From != arranged[around].Path { // which covers what was there
			if p.Mode == hidden || p.Mode == scratch {
				continue
			}
			p.Make = true
		}
		arranged = append(arranged, p)
	}
	return arranged
}

func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// places are those of a specification and those that are special for every
// confined job. The error is about what was asked for.
func (s Spec) places(getenv func(string) string, sockets []string) ([]place, error) {
	var list []place
	for _, p := range []struct {
		paths []string
		mode  mode
	}{{s.Writable, writable}, {s.ReadOnly, readOnly}} {
		if p.mode == writable && !s.Confine {
			continue
		}
		for _, path := range p.paths {
			real, err := resolve(path)
			if err != nil {
				return nil, err
			}
			list = append(list, place{Path: real, From: real, Mode: p.mode})
		}
	}
	if !s.Confine {
		return arrange(list), nil
	}
	if s.TempDir != "" {
		temp, err := resolve(s.TempDir)
		if err != nil {
			return nil, err
		}
		for _, path := range []string{"/tmp", "/var/tmp"} {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				list = append(list, place{Path: real, From: temp, Mode: writable})
			}
		}
	}
	if info, err := os.Lstat("/dev/shm"); err == nil && info.IsDir() {
		list = append(list, place{Path: "/dev/shm", Mode: scratch})
	}
	for _, path := range slices.Concat(s.Hidden, usuallyHidden(getenv), sockets) {
		// What we cannot resolve the job cannot reach.
		if real, err := filepath.EvalSymlinks(path); err == nil && real != "/" {
			list = append(list, place{Path: real, Mode: hidden})
		}
	}
	return arrange(list), nil
}

func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not absolute", path)
	}
	return filepath.EvalSymlinks(path)
}

// usuallyHidden are the places where programs listen who would do for a job what
// it cannot do: the user's own ones and those that start containers and services.
func usuallyHidden(getenv func(string) string) []string {
	list := []string{
		"/run/user/" + strconv.Itoa(os.Getuid()),
		"/run/docker.sock", "/run/docker", "/run/podman", "/run/containerd", "/run/crio", "/run/buildkit", "/run/libvirt",
		"/run/dbus", "/run/systemd/private", "/run/snapd.socket", "/run/snapd-snap.socket", "/run/screen", "/run/tmux",
	}
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		list = append(list, dir)
	}
	return list
}

// forNames are the sockets that a job may reach: users and hosts are looked up
// there.
var forNames = []string{"/run/nscd/", "/run/systemd/resolve/", "/run/systemd/userdb/", "/run/avahi-daemon/", "/var/lib/sss/pipes/", "/run/systemd/journal/"}

// listening are the paths of the sockets in a /proc/net/unix.
//
// Source: proc_pid_net(5): Num RefCount Protocol Flags Type St Inode Path.
func listening(r io.Reader) []string {
	var paths []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		_, path, found := strings.Cut(lines.Text(), " /")
		path = "/" + path
		if !found || strings.HasPrefix(path, "/proc/") ||
			slices.ContainsFunc(forNames, func(dir string) bool {
				return strings.HasPrefix(strings.TrimPrefix(path, "/var"), dir) || strings.HasPrefix(path, dir)
			}) {
			continue
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// sockets are those that are files now.
func sockets() []string {
	file, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil
	}
	defer file.Close()
	return listening(file)
}
