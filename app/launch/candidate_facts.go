package launch

import (
	"path"
	"slices"
	"strings"
)

// facts is what the list of candidates is made of. Paths are those of goos,
// which need not be the system this runs on.
type facts struct {
	goos    string
	home    string
	env     environ
	path    []string // of this process: its absolute directories, in order
	login   []string // what the login shell's PATH has besides
	project string
	own     []string // environments of the project that lie elsewhere
	python  []string // what the py launcher knows
	disk    disk
}

// disk is what the list of candidates has to know of the files.
type disk interface {
	file(path string) bool     // something lies there that is no directory, a broken link included
	names(dir string) []string // what is in a directory; none when it cannot be read
	target(path string) string // path without symbolic links, or path itself

	ahead(dirs []string) // says which directories will be looked in, so that one that is slow delays no other
	silent() []string    // directories that did not answer, and are passed over
}

func (f facts) windows() bool { return f.goos == "windows" }

// loginSource is what the PATH that LoginPath returns is called.
func (f facts) loginSource() string {
	if f.windows() {
		return "PATH of a new session"
	}
	return "PATH of the login shell"
}

func (f facts) join(parts ...string) string {
	if f.windows() {
		return strings.Join(parts, `\`)
	}
	return path.Join(parts...)
}

func (f facts) absolute(p string) bool {
	if !f.windows() {
		return strings.HasPrefix(p, "/")
	}
	// A drive, or a share. What starts with one backslash lies on an unknown drive.
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') || strings.HasPrefix(p, `\\`)
}

// separated tells a path from the bare name of a program.
func (f facts) separated(p string) bool {
	return strings.Contains(p, "/") || f.windows() && strings.ContainsAny(p, `\:`)
}

func (f facts) dir(p string) string {
	i := strings.LastIndexByte(p, '/')
	if f.windows() {
		i = strings.LastIndexAny(p, `\/`)
	}
	if i <= 0 {
		return p[:i+1]
	}
	return p[:i]
}

func (f facts) base(p string) string {
	d := f.dir(p)
	return strings.TrimLeft(strings.TrimPrefix(p, d), `/\`)
}

// comparable makes paths equal that mean the same file.
func (f facts) comparable(p string) string {
	if f.windows() {
		return strings.ToLower(strings.ReplaceAll(p, "/", `\`))
	}
	return p
}

// below reports whether p is top or lies in it.
func (f facts) below(p, top string) bool {
	if p == "" || top == "" {
		return false
	}
	slash := "/"
	if f.windows() {
		slash = `\`
	}
	p, top = f.comparable(p), strings.TrimRight(f.comparable(top), slash)
	return p == top || strings.HasPrefix(p, top+slash)
}

// target is a path without symbolic links, to compare.
func (f facts) target(p string) string { return f.comparable(f.disk.target(p)) }

// ofProject reports whether a file is the project's. A project that is the home
// directory, or holds it, would own everything that the user installed: there
// only its own environments count, which are asked for by name.
func (f facts) ofProject(p string) bool {
	if f.project == "" || f.below(f.home, f.project) || f.below(f.target(f.home), f.target(f.project)) {
		return false
	}
	return f.below(p, f.project) || f.below(f.target(p), f.target(f.project))
}

// programs returns the files of this name in dir, in the order in which the
// system would take them.
func (f facts) programs(dir, name string) []string {
	names := []string{name}
	if f.windows() {
		names = nil
		extensions := []string{".exe", ".com", ".bat", ".cmd"}
		if slices.Contains(extensions, strings.ToLower(extension(name))) {
			extensions = []string{""}
		}
		for _, e := range extensions {
			names = append(names, name+e)
		}
	}
	var found []string
	for _, n := range names {
		if p := f.join(dir, n); f.disk.file(p) {
			found = append(found, p)
		}
	}
	return found
}

func extension(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	return name[i:]
}

// splitPath returns the absolute directories of a PATH, each once. What is
// relative means another place in every directory, a project's included.
func splitPath(goos, value string) []string {
	f := facts{goos: goos}
	separator := ":"
	if f.windows() {
		separator = ";"
	}
	var dirs, seen []string
	for p := range strings.SplitSeq(value, separator) {
		if f.windows() {
			p = strings.Trim(p, `"`)
		}
		if !f.absolute(p) {
			continue
		}
		if len(p) > 1 && strings.HasSuffix(p, "/") || f.windows() && len(p) > 3 && strings.HasSuffix(p, `\`) {
			p = p[:len(p)-1]
		}
		if key := f.comparable(p); !slices.Contains(seen, key) {
			seen = append(seen, key)
			dirs = append(dirs, p)
		}
	}
	return dirs
}

func joinPath(goos string, dirs []string) string {
	if goos == "windows" {
		return strings.Join(dirs, ";")
	}
	return strings.Join(dirs, ":")
}
