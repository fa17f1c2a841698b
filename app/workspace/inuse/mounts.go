package inuse

import (
	"path"
	"strings"

	"lamplighter/app/workspace/mounts"
)

// mount is what a name of a directory depends on.
type mount struct {
	device string // major:minor
	root   string // what of the file system is mounted
	at     string // where
}

// parseMounts reads /proc/PID/mountinfo; lines that are not understood are left
// out.
func parseMounts(text []byte) []mount {
	var list []mount
	for m := range mounts.All(string(text)) {
		if path.IsAbs(m.Root) && path.IsAbs(m.At) { // else it has no place in a file system, such as a namespace
			list = append(list, mount{device: m.Device, root: m.Root, at: m.At})
		}
	}
	return list
}

// below reports whether name is dir or in it, and what of it is below.
func below(name, dir string) (rest string, ok bool) {
	if dir == "/" {
		return name, path.IsAbs(name)
	}
	rest, ok = strings.CutPrefix(name, dir)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// covering is the mount that a path lies in: the last one at the longest place.
func covering(mounts []mount, name string) (mount, bool) {
	best, found := mount{}, false
	for _, m := range mounts {
		if _, ok := below(name, m.at); ok && (!found || len(m.at) >= len(best.at)) {
			best, found = m, true
		}
	}
	return best, found
}

// place is a directory as its file system knows it, wherever that is mounted.
type place struct {
	device string
	path   string // in the file system
}

// placeOf is where a directory lies, by the mounts of our own process.
func placeOf(mounts []mount, dir string) (place, bool) {
	m, ok := covering(mounts, dir)
	if !ok {
		return place{}, false
	}
	rest, _ := below(dir, m.at)
	return place{m.device, path.Join(m.root, rest)}, true
}

// names are the paths by which all or a part of a directory is seen through some
// mounts: of it or of what is around it, and of what is in it.
func (p place) names(mounts []mount) []string {
	var names []string
	for _, m := range mounts {
		if m.device != p.device {
			continue
		}
		name := ""
		if _, ok := below(m.root, p.path); ok {
			name = m.at
		} else if rest, ok := below(p.path, m.root); ok {
			name = path.Join(m.at, rest)
		} else {
			continue
		}
		if over, ok := covering(mounts, name); ok && over == m { // nothing is mounted over it
			names = append(names, name)
		}
	}
	return names
}
