package inuse

import (
	"bytes"
	"path"
	"strings"
)

// mount is one line of /proc/PID/mountinfo, see proc_pid_mountinfo(5).
type mount struct {
	device string // major:minor
	root   string // what of the file system is mounted
	at     string // where
}

// parseMounts reads /proc/PID/mountinfo; lines that are not understood are left
// out.
func parseMounts(text []byte) []mount {
	var mounts []mount
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) < 5 {
			continue
		}
		m := mount{device: fields[2], root: unescape(fields[3]), at: unescape(fields[4])}
		if !path.IsAbs(m.root) || !path.IsAbs(m.at) {
			continue // what has no place in a file system, such as a namespace
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape reads the octal escapes of white space and backslashes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(c byte) bool { return '0' <= c && c <= '7' }

// below tells whether name is dir or in it, and what of it is below.
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
