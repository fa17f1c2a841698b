package share

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/goccy/go-yaml"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/statefile"
)

// locate finds what the files say about a wish. It may hang where they do.
func (w *wish) locate(ownHome string) (err error) {
	if !filepath.IsAbs(w.Dir) {
		return &InputError{"the working directory cannot be told, as if it had been removed: start the client again in one that exists"}
	}
	if err := w.elsewhere(w.Dir); err != nil {
		return err
	}
	homeName := "HOME"
	if runtime.GOOS == "windows" {
		homeName = "USERPROFILE"
	}
	w.home = filepath.Clean(cmp.Or(w.env[homeName], ownHome))
	w.serenaHome = filepath.Clean(cmp.Or(strings.TrimSpace(w.env["SERENA_HOME"]), filepath.Join(w.home, ".serena"))) // as serena_config.py does
	if !filepath.IsAbs(w.serenaHome) {
		return alone("its SERENA_HOME or home directory is not an absolute path")
	}
	if w.Moved {
		w.project, w.fromCwd = w.Project, false
	}
	if _, err := os.Stat(w.Dir); missing(err) && (w.fromCwd || w.project != "" && !filepath.IsAbs(w.project)) {
		return &InputError{fmt.Sprintf("there is no directory %s: the working directory was removed; start the client again in one that exists", monitor.Clean(w.Dir))}
	}
	if w.root, err = w.findRoot(); err != nil {
		return err
	}
	// The command can name another place than the one it is called in.
	if err := w.elsewhere(w.root); err != nil {
		return err
	}
	program := w.find(w.program[0])
	if program == "" {
		return &InputError{"there is no program " + monitor.Shorten(monitor.Clean(w.program[0]), 200) + " where the client would find it: write its full path into the client's configuration (lamplighter doctor says where Serena is)"}
	}
	for _, o := range serena.Options(w.program[1:]) {
		// It can be a file or a directory without looking like one: the index of a uv.
		isName := o.Name == "" || o.Name == "--from" || o.Name == "--with" || filepath.IsAbs(o.Value)
		if _, err := os.Lstat(from(w.Dir, o.Value)); err == nil && o.Value != "" && !isName {
			return fromTheDir
		}
	}
	w.program = append([]string{program}, w.program[1:]...)
	for _, name := range tools {
		if path := w.find(name); path != "" {
			w.tools = append(w.tools, "PATH finds "+name+" at "+plainDir(path))
		}
	}
	return nil
}

// elsewhere says why a path of who asks means nothing here, nil when it may mean what it
// means to it, or there is none: a socket can be passed into a container, where the
// project of that name is another one.
func (r *Request) elsewhere(dir string) error {
	if r.Outside {
		return alone("it runs outside of the container that lamplighter is in")
	}
	if r.PID == 0 || dir == "" {
		return nil
	}
	if same, err := process.SharesPath(r.PID, dir); same || err != nil { // of what may not be looked at nothing is known
		return nil
	}
	return alone("it runs in a container or a sandbox, where " + monitor.Clean(monitor.Shorten(dir, 200)) + " is another directory than here")
}

// findRoot finds the project of a server as Serena does, "" when it starts without
// one, or says why it cannot be found.
func (w *wish) findRoot() (root string, err error) {
	path, shown := w.project, monitor.Shorten(monitor.Clean(w.project), 100)
	switch {
	case w.fromCwd:
		return rootAbove(w.Dir)
	case path == "":
		return "", nil
	case !isPath(path): // then a name counts first
		switch roots, all := registered(w.serenaHome, path); {
		case len(roots) == 1:
			path = roots[0]
		case len(roots) > 1 || !all:
			return "", alone("the project " + shown + " is the name of several projects of Serena, or may be that of one whose settings cannot be read (write its path)")
		}
	}
	switch root = directory(from(w.Dir, path)); {
	case w.fixed && root != "" && (root == filepath.Dir(root) || root == directory(w.home)):
		// Serena would make a project of it, that of all directories below it that are in none.
		return "", &InputError{monitor.Clean(root) + " is no project, but the directory of all of them"}
	case root != "":
		return root, nil
	}
	why := "the project " + shown + " is not the path of a directory, or a name in Serena's settings"
	if w.fixed {
		return "", &InputError{why}
	}
	return "", alone(why)
}

// registered are the projects that have a name in Serena's settings; all tells whether
// the names of all are known: their settings may be kept elsewhere than in their
// directory. Sources: get_registered_project and ProjectConfig.load in
// serena/config/serena_config.py.
func registered(serenaHome, name string) (roots []string, all bool) {
	type settings struct {
		Projects []string `yaml:"projects"`
		Name     string   `yaml:"project_name"`
	}
	var own settings
	if readYAML(filepath.Join(serenaHome, "serena_config.yml"), &own) != nil {
		return nil, false
	}
	all = true
	for _, root := range own.Projects {
		var project, local settings // whose comments alone would empty what is there
		err := readYAML(filepath.Join(root, ".serena", "project.yml"), &project)
		err = cmp.Or(err, readYAML(filepath.Join(root, ".serena", "project.local.yml"), &local))
		switch called := cmp.Or(local.Name, project.Name); {
		case directory(root) == "": // Serena leaves it out as well
		case err != nil || called == "":
			all = false
		case called == name:
			roots = append(roots, root)
		}
	}
	return roots, all
}

// readYAML reads a file of Serena's, which need not be there.
func readYAML(path string, into any) error {
	text, err := readSettings(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, yaml.Unmarshal(text, into))
}

// mostSettings bounds what is read of a file, in bytes: settings are small, and a
// project's may be anything.
const mostSettings = 1 << 20

// readSettings reads a file of Serena's, often a link to where a person keeps it.
func readSettings(path string) ([]byte, error) {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return statefile.Read(at, mostSettings)
}

// isPath reports whether a value of --project can only be a path. Serena looks for
// a project of that name first, which may lie anywhere. Source:
// get_registered_project in serena/config/serena_config.py.
func isPath(project string) bool {
	return project == "." || project == ".." || hasSeparator(project)
}

func hasSeparator(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// from is the absolute path of what is named from a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// rootAbove returns the nearest directory from dir upwards that has
// .serena/project.yml or .git, which is a file in a worktree of Git; "" when there is
// none. Source: find_project_root in serena/cli.py.
func rootAbove(dir string) (root string, err error) {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", alone("its working directory cannot be read")
	}
	for below := ""; at != below; below, at = at, filepath.Dir(at) {
		for _, mark := range []string{filepath.Join(".serena", "project.yml"), ".git"} {
			info, err := os.Stat(filepath.Join(at, mark))
			switch {
			case err == nil && (mark == ".git" || info.Mode().IsRegular()):
				return at, nil
			case err != nil && !missing(err): // not to know must not mean the project above
				return "", alone("the root of its project cannot be told, because " + monitor.Clean(at) + " cannot be read")
			}
		}
	}
	return "", nil // Serena starts without one
}

// directory returns the directory that a path names, without symbolic links;
// "" when it names none.
func directory(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if info, statErr := os.Stat(real); err != nil || statErr != nil || !info.IsDir() {
		return ""
	}
	return real
}

// missing reports whether an error says that there is no such file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// find returns the absolute path of what the client starts by a name, "" when there is
// none. A directory of its PATH that is relative is meant from its own.
func (w *wish) find(name string) string {
	dirs := filepath.SplitList(w.env["PATH"])
	if hasSeparator(name) {
		dirs, name = []string{filepath.Dir(name)}, filepath.Base(name)
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" && runtime.GOOS == "windows" })
	for i, dir := range dirs {
		dirs[i] = from(w.Dir, dir)
	}
	return process.FindProgram(dirs, name)
}

// tools are the programs that language servers and what starts Serena use, as
// they are called on a PATH. Two clients whose PATHs find the same ones can
// share, whatever else their PATHs hold.
var tools = []string{
	"bash", "cargo", "clangd", "csc", "deno", "dotnet", "elixir", "erl", "gcc", "ghc", "git", "go", "gopls", "gradle", "haskell-language-server-wrapper", "java", "javac",
	"julia", "kotlinc", "lua", "mvn", "node", "npm", "npx", "perl", "php", "pyright", "python", "python3", "ruby", "rust-analyzer", "rustc", "rustup",
	"scala", "solargraph", "swift", "terraform", "typescript-language-server", "uv", "uvx", "zig", "zls",
}

// plainDir is the path of a program with its directory without symbolic links: some
// version managers make one for each shell that leads to the same place. Its own links
// stay: an interpreter is another one in another environment, and some programs are many
// in one.
func plainDir(program string) string {
	real, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil {
		return program
	}
	return filepath.Join(real, filepath.Base(program))
}
