package launch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// place is a directory in which programs may lie.
type place struct {
	dir    string
	source string // in words
	shims  bool   // every name in it is the same program, which chooses by itself
}

// places returns the directories in which users' programs lie although no PATH
// of a desktop process may have them, best first. Sources: the documentation of
// uv (storage), pipx (installation), pyenv, Homebrew, Scoop, and of Python's
// sysconfig and site modules.
func (f facts) places() []place {
	var list []place
	add := func(source, base string, rest ...string) {
		if !f.absolute(base) {
			return
		}
		list = append(list, place{dir: f.join(append([]string{base}, rest...)...), source: source})
	}
	bin := f.binName()
	data := f.env.get("XDG_DATA_HOME")
	if !f.absolute(data) {
		data = f.under(f.home, ".local", "share")
	}
	roaming, local := f.env.get("APPDATA"), f.env.get("LOCALAPPDATA")

	add("~/.local/bin", f.home, ".local", "bin")
	add("XDG_BIN_HOME", f.env.get("XDG_BIN_HOME"))
	for _, name := range []string{"serena-agent", "serena"} {
		tools := func(base string, rest ...string) {
			add("the tools of uv", base, append(rest, name, bin)...)
		}
		tools(f.env.get("UV_TOOL_DIR"))
		if f.windows() {
			tools(roaming, "uv", "tools")
			tools(roaming, "uv", "data", "tools")
		} else {
			tools(data, "uv", "tools")
		}
	}
	add("the tools of uv", f.env.get("UV_TOOL_BIN_DIR"))
	// Where uv and rustup's cargo put uvx itself.
	add("~/.cargo/bin", f.home, ".cargo", "bin")

	pipx := func(base string, rest ...string) { add("pipx", base, append(rest, "venvs", "serena-agent", bin)...) }
	pipx(f.env.get("PIPX_HOME"))
	pipx(data, "pipx")
	pipx(f.home, ".local", "pipx")
	if f.windows() {
		pipx(f.home, "pipx")
		pipx(local, "pipx")
		pipx(local, "pipx", "pipx")
	}
	add("pipx", f.env.get("PIPX_BIN_DIR"))

	list = append(list, f.pyenv()...)
	switch f.goos {
	case "windows":
		list = append(list, f.windowsPlaces(local, roaming)...)
	case "darwin":
		add("Homebrew", f.env.get("HOMEBREW_PREFIX"), "bin")
		add("Homebrew", "/opt/homebrew", "bin")
		add("Homebrew", "/usr/local", "bin")
		for _, version := range f.versions(f.under(f.home, "Library", "Python")) {
			add("Python's installations of the user", f.home, "Library", "Python", version, "bin")
		}
		for _, version := range f.versions("/Library/Frameworks/Python.framework/Versions") {
			add("Python's own installation", "/Library/Frameworks/Python.framework/Versions", version, "bin")
		}
	default:
		add("Homebrew", f.env.get("HOMEBREW_PREFIX"), "bin")
		add("Homebrew", "/home/linuxbrew/.linuxbrew", "bin")
		add("Homebrew", f.home, ".linuxbrew", "bin")
		add("/usr/local/bin", "/usr/local", "bin")
	}
	if !f.windows() {
		add("/usr/bin", "/usr", "bin")
	}
	return list
}

func (f facts) pyenv() []place {
	root := f.env.get("PYENV_ROOT")
	if !f.absolute(root) {
		root = f.under(f.home, ".pyenv")
		if f.windows() {
			root = f.under(f.home, ".pyenv", "pyenv-win")
		}
	}
	if root == "" {
		return nil
	}
	list := []place{{dir: f.join(root, "shims"), source: "the shims of pyenv", shims: true}}
	for _, version := range f.versions(f.join(root, "versions")) {
		installed := f.join(root, "versions", version)
		source := "pyenv's Python " + version
		list = append(list, place{dir: f.join(installed, f.binName()), source: source})
		if f.windows() {
			list = append(list, place{dir: installed, source: source})
		}
	}
	return list
}

func (f facts) windowsPlaces(local, roaming string) []place {
	var list []place
	// install is a Python: python.exe in it, programs in Scripts.
	install := func(source, dir string) {
		list = append(list, place{dir: f.join(dir, "Scripts"), source: source}, place{dir: dir, source: source})
	}
	shims := func(base string) {
		if f.absolute(base) {
			list = append(list, place{dir: f.join(base, "shims"), source: "Scoop"})
		}
	}
	if scoop := f.env.get("SCOOP"); f.absolute(scoop) {
		shims(scoop)
	} else {
		shims(f.under(f.home, "scoop"))
	}
	shims(f.env.get("SCOOP_GLOBAL"))
	shims(f.under(f.env.get("PROGRAMDATA"), "scoop"))
	below := func(source, top string) {
		for _, name := range f.versions(top) {
			if strings.HasPrefix(strings.ToLower(name), "python") {
				install(source, f.join(top, name))
			}
		}
	}
	if f.absolute(local) {
		below(`%LOCALAPPDATA%\Programs`, f.join(local, "Programs", "Python"))
		list = append(list, place{dir: f.join(local, "Programs", "uv"), source: `%LOCALAPPDATA%\Programs`},
			place{dir: f.join(local, "Microsoft", "WinGet", "Links"), source: "WinGet"},
			place{dir: f.join(local, "Programs", "Python", "Launcher"), source: `%LOCALAPPDATA%\Programs`})
		// The Python of the Store keeps what its users install here.
		packages := f.join(local, "Packages")
		for _, name := range f.disk.names(packages) {
			if strings.HasPrefix(name, "PythonSoftwareFoundation.Python.") {
				below("Python's installations of the user", f.join(packages, name, "LocalCache", "local-packages"))
			}
		}
	}
	if f.absolute(roaming) {
		below("Python's installations of the user", f.join(roaming, "Python"))
	}
	for _, name := range []string{"PROGRAMFILES", "PROGRAMW6432"} {
		if top := f.env.get(name); f.absolute(top) {
			below("Python's own installation", top)
		}
	}
	if drive := f.env.get("SYSTEMDRIVE"); drive != "" {
		below("Python's own installation", drive+`\`)
	}
	if root := f.env.get("SYSTEMROOT"); f.absolute(root) {
		list = append(list, place{dir: root, source: "Windows"}) // py.exe
	}
	return list
}

// environments returns the directories of programs in environments that are the
// project's own.
func (f facts) environments() []place {
	if f.project == "" {
		return nil
	}
	var list []place
	for _, name := range []string{".venv", "venv"} {
		list = append(list, place{dir: f.join(f.project, name, f.binName()), source: "the project's own " + name})
	}
	pixi := f.join(f.project, ".pixi", "envs")
	for _, name := range f.disk.names(pixi) {
		list = append(list, place{dir: f.join(pixi, name, f.binName()), source: "the project's own .pixi"})
	}
	for _, dir := range f.own {
		list = append(list, place{dir: f.join(dir, f.binName()), source: "the project's own environment"})
	}
	return list
}

// binName is where an environment has its programs.
func (f facts) binName() string {
	if f.windows() {
		return "Scripts"
	}
	return "bin"
}

// under is join, but nothing below an unknown directory.
func (f facts) under(base string, rest ...string) string {
	if !f.absolute(base) {
		return ""
	}
	return f.join(append([]string{base}, rest...)...)
}

// versions returns the names in a directory, the newest version first.
func (f facts) versions(dir string) []string {
	if dir == "" {
		return nil
	}
	names := slices.Clone(f.disk.names(dir))
	slices.SortStableFunc(names, func(a, b string) int { return compareNames(b, a) })
	return names
}

// compareNames orders names of directories by the numbers in them: 3.9.18 before
// 3.10, Python39 before Python310.
func compareNames(a, b string) int {
	x, y := numbers(a), numbers(b)
	if c := slices.Compare(x, y); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

func numbers(s string) []int {
	var list []int
	for field := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(field); err == nil {
			list = append(list, n)
		}
	}
	return list
}
