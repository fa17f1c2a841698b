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
	"lamplighter/monitor/statefile"
)

// locate finds what the files say about a wish. It may hang where they do.
func (w *wish) locate(ownHome string) (err error) {
	homeName := "HOME"
	if runtime.GOOS == "windows" {
		homeName = "USERPROFILE"
	}
	w.home = filepath.Clean(cmp.Or(w.env[homeName], ownHome))
	w.serenaHome = filepath.Clean(cmp.Or(strings.TrimSpace(w.env["SERENA_HOME"]), filepath.Join(w.home, ".serena"))) // as serena_config.py does
	if w.Moved {
		w.project, w.fromCwd = w.Project, false
	}
	if _, err := os.Stat(w.Dir); missing(err) && (w.fromCwd || w.project != "" && !filepath.IsAbs(w.project)) {
		return &InputError{fmt.Sprintf("there is no directory %s: the working directory was removed; start the client again in one that exists", monitor.Clean(w.Dir))}
	}
	if !filepath.IsAbs(w.serenaHome) {
		return alone("its SERENA_HOME or home directory is not an absolute path")
	}
	if w.root, err = w.findRoot(); err != nil {
		return err
	}
	w.single = isSingleProject(w.context, w.serenaHome)
	dirs := pathDirs(w.env["PATH"], w.Dir)
	program := findProgram(w.Dir, dirs, w.program[0])
	if program == "" {
		return notFound(w.program[0], dirs)
	}
	if namesFiles(w.Dir, w.program) {
		return fromTheDir
	}
	w.program = slices.Concat([]string{program}, w.program[1:])
	for _, name := range tools {
		w.tools = append(w.tools, foundTool{name, plainDir(process.FindProgram(runtime.GOOS, dirs, name))})
	}
	return nil
}

// findRoot finds the project of a server as Serena does, "" when it starts without
// one, or says why it cannot be found.
func (w *wish) findRoot() (root string, err error) {
	if err := beginsWithTilde(w.project); err != nil {
		return "", err
	}
	path, shown := w.project, monitor.Shorten(monitor.Clean(w.project), 100)
	switch {
	case w.fromCwd:
		return rootAbove(w.Dir)
	case path == "":
		return "", nil
	case !isPath(path): // then a name counts first
		switch roots, all := registered(w.serenaHome, path); {
		case len(roots) > 1:
			return "", alone("several projects of Serena have the name " + shown + " (write its path)")
		case len(roots) == 1:
			path = roots[0]
		case !all:
			return "", alone("the project " + shown + " may be the name of a project of Serena whose settings cannot be read (write its path)")
		}
	}
	if root = directory(path, w.Dir); root == "" {
		return "", alone("the project " + shown + " is not the path of a directory, or a name in Serena's settings")
	}
	return root, nil
}

// beginsWithTilde says what is wrong with a project that does, nil for any other.
func beginsWithTilde(project string) error {
	if !strings.HasPrefix(project, "~") {
		return nil
	}
	return alone("the project " + monitor.Shorten(monitor.Clean(project), 100) + " begins with ~, which nobody replaces by the home directory here (write the whole path)")
}

// registered are the projects that have a name in Serena's settings; all tells whether
// the names of all are known: their settings may be kept elsewhere than in their
// directory. Sources: get_registered_project and ProjectConfig.load in
// serena/config/serena_config.py.
func registered(serenaHome, name string) (roots []string, all bool) {
	var settings struct {
		Projects []string `yaml:"projects"`
	}
	if readYAML(filepath.Join(serenaHome, "serena_config.yml"), &settings) != nil {
		return nil, false
	}
	all = true
	for _, root := range settings.Projects {
		if directory(root, "") == "" {
			continue // Serena leaves it out as well
		}
		var local, project struct {
			Name string `yaml:"project_name"`
		}
		err := errors.Join(readYAML(filepath.Join(root, ".serena", "project.local.yml"), &local), readYAML(filepath.Join(root, ".serena", "project.yml"), &project))
		switch known := cmp.Or(local.Name, project.Name); {
		case err != nil || known == "":
			all = false
		case known == name:
			roots = append(roots, root)
		}
	}
	return roots, all
}

// readYAML reads a file of Serena's, which need not be there.
func readYAML(path string, into any) error {
	data, err := statefile.Read(path, mostSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
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

// rootAbove returns the nearest directory from dir upwards that has
// .serena/project.yml or .git, which is a file in a worktree of Git; "" when there is
// none. Source: find_project_root in serena/cli.py.
func rootAbove(dir string) (root string, err error) {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", alone("its working directory cannot be read")
	}
	for {
		for _, mark := range []string{filepath.Join(".serena", "project.yml"), ".git"} {
			info, err := os.Stat(filepath.Join(at, mark))
			switch {
			case err == nil && (mark == ".git" || info.Mode().IsRegular()):
				return at, nil
			case err != nil && !missing(err): // not to know must not mean the project above
				return "", alone("the root of its project cannot be told, because " + monitor.Clean(at) + " cannot be read")
			}
		}
		above := filepath.Dir(at)
		if above == at {
			return "", nil // Serena starts without one
		}
		at = above
	}
}

// directory returns the directory that a path names, without symbolic links;
// "" when it names none.
func directory(path, dir string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}

// missing reports whether an error says that there is no such file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// pathDirs are the directories of a client's PATH. One that is relative is meant
// from the client's working directory.
func pathDirs(path, dir string) []string {
	dirs := filepath.SplitList(path)
	if runtime.GOOS == "windows" {
		dirs = slices.DeleteFunc(dirs, func(d string) bool { return d == "" })
	}
	for i, d := range dirs {
		if !filepath.IsAbs(d) {
			dirs[i] = filepath.Join(dir, d)
		}
	}
	return dirs
}

// findProgram returns the absolute path of what a client starts by that name;
// "" when there is none.
func findProgram(dir string, dirs []string, name string) string {
	if hasSeparator(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		dirs, name = []string{filepath.Dir(name)}, filepath.Base(name)
	}
	return process.FindProgram(runtime.GOOS, dirs, name)
}

func notFound(name string, dirs []string) error {
	shown := monitor.Shorten(monitor.Clean(name), 200)
	if hasSeparator(name) {
		return &InputError{fmt.Sprintf("there is no program %s: the configuration of the client names it", shown)}
	}
	return &InputError{fmt.Sprintf("there is no program %s in the %d directories of the client's PATH: write its full path into the client's configuration (lamplighter doctor says where Serena is)", shown, len(dirs))}
}

// tools are the programs that language servers and what starts Serena use, as
// they are called on a PATH. Two clients whose PATHs find the same ones can
// share, whatever else their PATHs hold.
var tools = []string{
	"bash", "cargo", "clangd", "csc", "deno", "dotnet", "elixir", "erl", "gcc", "ghc", "git", "go", "gopls", "gradle", "haskell-language-server-wrapper", "java", "javac",
	"julia", "kotlinc", "lua", "mvn", "node", "npm", "npx", "perl", "php", "pyright", "python", "python3", "ruby", "rust-analyzer", "rustc", "rustup",
	"scala", "solargraph", "swift", "terraform", "typescript-language-server", "uv", "uvx", "zig", "zls",
}

// foundTool is a tool and where a PATH finds it; "" is nowhere.
type foundTool struct{ name, path string }

// plainDir is the path of a program with its directory without symbolic links: some
// version managers make one for each shell that leads to the same place. Its own links
// stay: an interpreter is another one in another environment, and some programs are many
// in one.
func plainDir(program string) string {
	real, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil || program == "" {
		return program
	}
	return filepath.Join(real, filepath.Base(program))
}
