package share

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"lamplighter/app/share/wire"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// origin is what the files say about a wish.
type origin struct {
	program string // absolute, as found; links are not followed
	stamp   string // tells apart the program's file as it is now
	project string // without symbolic links; "" when there is none
	single  bool   // it cannot be changed in the context

	home, serenaHome string      // without symbolic links; "" when there is none
	tools            []foundTool // where the client's PATH finds what language servers use
	alone            string      // why it cannot be shared
	err              error       // an *InputError
}

// originOf looks at the files. It may hang where they do.
func (a *Planner) originOf(w wish) (o origin) {
	args, program, env := w.args, w.program, w.env
	homeName := "HOME"
	if runtime.GOOS == "windows" {
		homeName = "USERPROFILE"
	}
	home := canonical(cmp.Or(env[homeName], a.home))
	serenaHome := cmp.Or(strings.TrimSpace(env["SERENA_HOME"]), filepath.Join(home, ".serena")) // as serena_config.py does
	if w.Moved {
		args.project, args.hasProject, args.fromCwd = w.Project, w.Project != "", false
	}
	if _, err := os.Stat(w.Dir); missing(err) && (args.fromCwd || args.hasProject && !filepath.IsAbs(args.project)) {
		o.err = &InputError{fmt.Sprintf("there is no directory %s: the working directory was removed; start the client again in one that exists", monitor.Clean(w.Dir))}
		return o
	}
	if !filepath.IsAbs(serenaHome) {
		o.alone = "its SERENA_HOME or home directory is not an absolute path"
		return o
	}
	o.home, o.serenaHome = home, canonical(serenaHome)
	if o.project, o.alone = projectOf(w.Dir, o.serenaHome, args); o.alone != "" {
		return o
	}
	o.single = isSingleProject(args.context, o.serenaHome)
	dirs := pathDirs(env["PATH"], w.Dir)
	if o.program = findProgram(w.Dir, dirs, program[0]); o.program == "" {
		o.err = notFound(program[0], dirs)
		return o
	}
	if namesFiles(w.Dir, program) {
		o.alone = fromTheDir
	}
	o.stamp = stampOf(o.program)
	o.tools = findTools(dirs)
	return o
}

func notFound(name string, dirs []string) error {
	shown := monitor.Shorten(monitor.Clean(name), 200)
	if hasSeparator(name) {
		return &InputError{fmt.Sprintf("there is no program %s: the configuration of the client names it", shown)}
	}
	return &InputError{fmt.Sprintf("there is no program %s in the %d directories of the client's PATH: write its full path into the client's configuration (lamplighter doctor says where Serena is)", shown, len(dirs))}
}

// projectOf finds the project of a server as Serena does, "" when it starts without
// one, or says why it cannot be found.
func projectOf(dir, serenaHome string, args arguments) (root, why string) {
	shown := monitor.Shorten(monitor.Clean(args.project), 100)
	switch {
	case args.fromCwd:
		return rootAbove(dir)
	case !args.hasProject:
		return "", ""
	case beginsWithTilde(args.project) != "":
		return "", beginsWithTilde(args.project)
	case !isPath(args.project): // then a name counts first
		switch roots, all := registered(serenaHome, args.project); {
		case len(roots) > 1:
			return "", "several projects of Serena have the name " + shown + " (write its path)"
		case len(roots) == 1:
			args.project = roots[0]
		case !all:
			return "", "the project " + shown + " may be the name of a project of Serena whose settings cannot be read (write its path)"
		}
	}
	if root = directory(args.project, dir); root == "" {
		return "", "the project " + shown + " is not the path of a directory, or a name in Serena's settings"
	}
	return root, ""
}

// beginsWithTilde says what is wrong with a project that does, "" for any other.
func beginsWithTilde(project string) string {
	if !strings.HasPrefix(project, "~") {
		return ""
	}
	return "the project " + monitor.Shorten(monitor.Clean(project), 100) + " begins with ~, which nobody replaces by the home directory here (write the whole path)"
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
	return project == "" || project == "." || project == ".." || strings.ContainsFunc(project, func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) })
}

// rootAbove returns the nearest directory from dir upwards that has
// .serena/project.yml or .git, which is a file in a worktree of Git; "" when there is
// none. Source: find_project_root in serena/cli.py.
func rootAbove(dir string) (root, why string) {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", "its working directory cannot be read"
	}
	for {
		for _, mark := range []string{filepath.Join(".serena", "project.yml"), ".git"} {
			info, err := os.Stat(filepath.Join(at, mark))
			switch {
			case err == nil && (mark == ".git" || info.Mode().IsRegular()):
				return at, ""
			case err != nil && !missing(err): // not to know must not mean the project above
				return "", "the root of its project cannot be told, because " + monitor.Clean(at) + " cannot be read"
			}
		}
		above := filepath.Dir(at)
		if above == at {
			return "", "" // Serena starts without one
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

// canonical is a path without symbolic links as far as it exists, so that it
// stays the same when the rest is made.
func canonical(path string) string {
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	above := filepath.Dir(path)
	switch {
	case err == nil:
		return real
	case above == path:
		return path
	}
	return filepath.Join(canonical(above), filepath.Base(path))
}

// meant are the variables that are named like those that can change what a server does.
// On Windows, where case means nothing, the names are in capitals.
func meant(goos string, env []string) map[string]string {
	found := map[string]string{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if ok && name != "" && (wire.Relevant(name) || goos == "windows" && wire.Relevant(strings.ToUpper(name))) {
			found[envName(goos, name)] = value
		}
	}
	return found
}

// relevant are those that can change what a server does.
func relevant(goos string, env []string) map[string]string {
	kept := meant(goos, env)
	maps.DeleteFunc(kept, func(name, _ string) bool { return passing(name) })
	return kept
}

// surplus are the names of variables that we have and that a server for a client
// with that environment is not to get. PATH stays: nothing runs without.
func surplus(goos string, ours []string, client map[string]string) []string {
	left := meant(goos, ours)
	maps.DeleteFunc(left, func(name, _ string) bool {
		_, has := client[name]
		return has || name == "PATH"
	})
	return slices.Sorted(maps.Keys(left))
}

func envName(goos, name string) string {
	if goos == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// passing reports whether a variable speaks of one process or one terminal
// although it is named like those that matter: the channel of a child of Node,
// the depth and prompt of a shell, who runs a script of npm, what a person gets
// who types Python. A server gets none of them.
func passing(name string) bool {
	return slices.Contains(passingNames, name) || strings.HasPrefix(name, "LC_TERMINAL")
}

var passingNames = []string{
	"NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_UNIQUE_ID", "NODE_REPL_HISTORY",
	"CONDA_SHLVL", "CONDA_PROMPT_MODIFIER", "UV_RUN_RECURSION_DEPTH",
	"npm_config_user_agent", "npm_config_local_prefix", "npm_config_init_module", "NPM_CONFIG_USER_AGENT", "NPM_CONFIG_LOCAL_PREFIX",
	"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHON_BASIC_REPL", "PYTHON_HISTORY",
}

// inOtherWords are the variables that the key does not hold as they are: where
// programs are found counts, and which home.
var inOtherWords = []string{"PATH", "HOME", "USERPROFILE", "SERENA_HOME"}
