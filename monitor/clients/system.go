package clients

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lamplighter/monitor/statefile"
)

// IsThere reports whether something lies at a path, be it a link that leads nowhere.
func IsThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isForeign reports whether what lies at a path, be it a link, is neither the user's nor
// root's. Windows does not tell.
func isForeign(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !slices.Contains([]int{0, os.Getuid()}, statefile.Owner(info))
}

// IsAbsolute reports whether a path is absolute on a system, as runtime.GOOS names it.
func IsAbsolute(goos, path string) bool { return system{goos: goos}.absolute(path) }

// dirsIn are the names of the directories in dir, also of those behind symbolic
// links, in the order of their names. A directory that cannot be read has none.
func dirsIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// windowsRoot is what stands before the first directory: C:\ or \\server\share\.
var windowsRoot = regexp.MustCompile(`^([A-Za-z]:|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)[\\/]+`)

// system makes paths as a system does, which need not be the one we run on: so
// what is said about Windows is tested everywhere.
type system struct {
	goos   string
	home   string // absolute
	getenv func(string) string
	onDisk
}

// programs is the directory in which programs with a window keep the user's
// settings.
//
// Sources: appData in the page "app" of Electron's documentation, and
// src/vs/platform/environment/node/userDataPath.ts of microsoft/vscode.
func (s system) programs() string {
	switch s.goos {
	case "windows":
		return s.directory("APPDATA", s.join(s.home, "AppData", "Roaming"))
	case "darwin":
		return s.join(s.home, "Library", "Application Support")
	}
	return s.directory("XDG_CONFIG_HOME", s.join(s.home, ".config"))
}

// directory is what an environment variable says, or else the default. What is
// not absolute depends on where a client is started, so it is not used.
func (s system) directory(name, otherwise string) string {
	if dir := s.getenv(name); name != "" && s.absolute(dir) {
		return dir
	}
	return otherwise
}

// directoryOf is the directory below which a file is.
func (s system) directoryOf(f location) string {
	dir := s.join(s.home, strings.Split(f.dir, "/")...)
	switch {
	case f.dir == config && s.goos == "darwin":
		dir = s.join(s.home, ".config")
	case f.dir == config, f.dir == programs:
		dir = s.programs()
	}
	return s.directory(f.env, dir)
}

// projects are the directories whose files count for someone who is in dir: dir
// itself, and the top of its repository, which is the nearest directory with a
// .git. The home and what is above it are looked at only when dir is there: a
// search that begins below the home ends with it.
func (s system) projects(dir string) []string {
	if !s.absolute(dir) {
		return nil
	}
	for _, at := range s.upwards(dir) {
		if s.exists(s.join(at, ".git")) {
			return slices.Compact([]string{dir, at})
		}
		if s.key(at) == s.key(s.home) {
			break
		}
	}
	return []string{dir}
}

// upwards are a directory and all above it.
func (s system) upwards(dir string) (dirs []string) {
	for s.absolute(dir) && !slices.Contains(dirs, dir) {
		dirs = append(dirs, dir)
		dir = s.parent(dir)
	}
	return dirs
}

func (s system) join(dir string, names ...string) string {
	if s.goos != "windows" {
		return path.Join(append([]string{dir}, names...)...)
	}
	return strings.TrimRight(dir, `\/`) + `\` + strings.Join(names, `\`)
}

func (s system) absolute(p string) bool {
	if s.goos != "windows" {
		return strings.HasPrefix(p, "/")
	}
	return windowsRoot.MatchString(p)
}

// parent is the directory above, for a root the root itself.
func (s system) parent(p string) string {
	if s.goos != "windows" {
		return path.Dir(p)
	}
	root := windowsRoot.FindString(p)
	below := strings.TrimRight(p[len(root):], `\/`)
	return root + below[:max(strings.LastIndexAny(below, `\/`), 0)]
}

// key is the same for two ways to write a path. Only Windows is known never to
// tell names apart by their case.
func (s system) key(p string) string {
	if s.goos != "windows" {
		return path.Clean(p)
	}
	return strings.ToLower(strings.TrimRight(strings.ReplaceAll(p, "/", `\`), `\`))
}
