package inuse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const proc = "/proc"

// within looks through /proc, see proc(5).
func within(ctx context.Context, dir string) ([]Process, error) {
	var id unix.Stat_t
	if err := unix.Stat(dir, &id); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, err
	}
	s := search{dir: dir, device: uint64(id.Dev), inode: id.Ino, self: os.Getpid(), names: map[string]names{}}
	own, err := os.ReadFile(proc + "/self/mountinfo")
	if err != nil {
		return nil, err
	}
	mounts := parseMounts(own)
	s.place, s.placed = placeOf(mounts, dir)
	s.home, _ = os.Readlink(proc + "/self/ns/mnt")
	s.names[s.home] = s.named(append(s.place.names(mounts), dir))
	var found []Process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		how := s.process(pid)
		if how == "" {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(proc, entry.Name(), "comm"))
		found = append(found, Process{PID: pid, Name: strings.TrimSuffix(string(name), "\n"), How: how})
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// search is for one directory.
type search struct {
	dir    string
	device uint64
	inode  uint64
	place  place
	placed bool
	self   int
	home   string           // our mount namespace
	names  map[string]names // by mount namespace
	buffer []byte
}

// names are the paths of a directory in a mount namespace.
type names struct {
	paths []string
	maps  [][]byte // as /proc/PID/maps writes them
}

func (s *search) named(paths []string) names {
	slices.Sort(paths)
	n := names{paths: slices.Compact(paths)}
	for _, p := range n.paths {
		n.maps = append(n.maps, []byte(" "+strings.ReplaceAll(p, "\n", `\012`)))
	}
	return n
}

// has reports whether what a link of /proc says lies inside.
func (n names) has(text string) bool {
	for _, p := range n.paths {
		if _, ok := below(text, p); ok || text == p+deleted {
			return true
		}
	}
	return false
}

// deleted is behind the name of what was removed while it is in use.
const deleted = " (deleted)"

// process says how a process works inside, "" when it does not.
func (s *search) process(pid int) string {
	base := proc + "/" + strconv.Itoa(pid)
	if pid == s.self {
		return s.files(base, s.names[s.home], true)
	}
	cwd, err := os.Readlink(base + "/cwd")
	if errors.Is(err, fs.ErrPermission) {
		return s.started(base)
	}
	if err != nil && !errors.Is(err, unix.ENAMETOOLONG) {
		return "" // it has ended
	}
	n, foreign := s.namespace(base)
	if n.has(cwd) || (foreign || err != nil) && s.inside(base+"/cwd") {
		return worksIn(cmpOr(cwd, s.dir))
	}
	if exe, err := os.Readlink(base + "/exe"); err == nil && n.has(exe) {
		return runs(exe)
	}
	if root, err := os.Readlink(base + "/root"); err == nil && root != "/" && n.has(root) || foreign && s.inside(base+"/root") {
		return rootedIn(cmpOr(root, s.dir))
	}
	if how := s.files(base, n, false); how != "" {
		return how
	}
	return s.mapped(base, n)
}

func cmpOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// namespace are the names of the directory in the mount namespace of a process.
func (s *search) namespace(base string) (n names, foreign bool) {
	id, err := os.Readlink(base + "/ns/mnt")
	if err != nil || id == s.home {
		return s.names[s.home], false
	}
	n, known := s.names[id]
	if known {
		return n, true
	}
	if text, err := os.ReadFile(base + "/mountinfo"); err == nil && s.placed {
		n = s.named(s.place.names(parseMounts(text)))
		s.names[id] = n
	}
	return n, true
}

// mostAbove bounds how far up is looked from a directory.
const mostAbove = 1 << 14

// inside tells by the identities of the directories from the one at link upwards
// whether it is ours or below it: for those whose name means nothing here.
func (s *search) inside(link string) bool {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	at, err := unix.Open(link, flags, 0)
	if err != nil {
		return false
	}
	defer func() { unix.Close(at) }()
	var before unix.Stat_t
	for range mostAbove {
		var st unix.Stat_t
		if err := unix.Fstat(at, &st); err != nil {
			return false
		}
		if uint64(st.Dev) == s.device && st.Ino == s.inode {
			return true
		}
		if st.Dev == before.Dev && st.Ino == before.Ino {
			return false // the root
		}
		before = st
		up, err := unix.Openat(at, "..", flags, 0)
		if err != nil {
			return false
		}
		unix.Close(at)
		at = up
	}
	return false
}

// files looks at what a process has open. Directories do not count for our own
// process, which may be looking into this one.
func (s *search) files(base string, n names, own bool) string {
	dir, err := os.Open(base + "/fd")
	if err != nil {
		return ""
	}
	defer dir.Close()
	fds, _ := dir.Readdirnames(-1) // what could be read counts
	for _, fd := range fds {
		link := base + "/fd/" + fd
		text, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(text, "/") || !n.has(text) {
			continue
		}
		if own {
			if info, err := os.Stat(link); err != nil || info.IsDir() {
				continue
			}
		}
		return hasOpen(text)
	}
	return ""
}

// mapped looks at the files that are mapped into the memory of a process.
func (s *search) mapped(base string, n names) string {
	file, err := os.Open(base + "/maps")
	if err != nil {
		return ""
	}
	defer file.Close()
	if s.buffer == nil {
		s.buffer = make([]byte, 1<<16)
	}
	// Lines are looked at in pieces of the file, of which the last line is kept for
	// the next one.
	kept := 0
	for {
		read, err := file.Read(s.buffer[kept:])
		text := s.buffer[:kept+read]
		if read == 0 || err != nil {
			return mappedIn(text, n)
		}
		whole := bytes.LastIndexByte(text, '\n') + 1
		if how := mappedIn(text[:whole], n); how != "" {
			return how
		}
		kept = copy(s.buffer, text[whole:])
		if kept == len(s.buffer) {
			return ""
		}
	}
}

// mappedIn looks for a name in whole lines of /proc/PID/maps.
func mappedIn(text []byte, n names) string {
	for i, name := range n.maps {
		for rest := text; ; {
			at := bytes.Index(rest, name)
			if at < 0 {
				break
			}
			line, _, _ := bytes.Cut(rest[at+1:], []byte("\n"))
			if n.paths[i] == "/" || len(line) == len(name)-1 || line[len(name)-1] == '/' {
				return hasOpen(string(line))
			}
			rest = rest[at+len(name):]
		}
	}
	return ""
}

// started is for a process that does not let itself be looked at: what everybody
// may see is its command line.
func (s *search) started(base string) string {
	text, err := os.ReadFile(base + "/cmdline")
	if err != nil {
		return ""
	}
	n := s.names[s.home]
	for i, arg := range strings.Split(string(text), "\x00") {
		if filepath.IsAbs(arg) && n.has(filepath.Clean(arg)) {
			if i == 0 {
				return runs(arg)
			}
			return "was started on " + arg
		}
	}
	return ""
}

// String is for messages of tests.
func (p Process) String() string { return fmt.Sprintf("%s (%d) %s", p.Name, p.PID, p.How) }
