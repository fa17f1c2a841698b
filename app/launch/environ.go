package launch

import (
	"slices"
	"strings"
)

// environ is an environment: names (in capitals on Windows, where case means
// nothing) and their values.
type environ map[string]string

func (e environ) get(name string) string { return e[name] }

func parseEnviron(goos string, list []string) environ {
	e := environ{}
	for _, entry := range list {
		if name, value, ok := splitEntry(entry); ok {
			e[envName(goos, name)] = value
		}
	}
	return e
}

// splitEntry splits KEY=VALUE. Windows has names that begin with "=", for the
// current directory of each drive; they are nobody's business.
func splitEntry(entry string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(entry, "=")
	return name, value, ok && name != ""
}

func envName(goos, name string) string {
	if goos == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// dropped are the variables that speak of this process, or of the terminal it
// may have been started in, and not of the user. A name that ends with "*"
// stands for all that begin so.
var dropped = []string{
	// Ours, and what systemd gave to us: sockets, pid, journal, credentials.
	"LAMPLIGHTER_*", "NOTIFY_SOCKET", "LISTEN_*", "INVOCATION_ID", "JOURNAL_STREAM", "WATCHDOG_*", "SYSTEMD_EXEC_PID",
	"MAINPID", "MANAGERPID", "MEMORY_PRESSURE_*", "CREDENTIALS_DIRECTORY", "FDSTORE", "RUNTIME_DIRECTORY", "STATE_DIRECTORY",
	// A start on the desktop, which is used up.
	"DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN", "GIO_LAUNCHED_DESKTOP_FILE*", "DESKTOP_AUTOSTART_ID", "XPC_SERVICE_NAME",
	// The directory and depth of the shell.
	"PWD", "OLDPWD", "SHLVL", "_",
	// An environment of Python that was active there. Where PATH leads stays.
	"VIRTUAL_ENV*", "CONDA_PREFIX*", "CONDA_DEFAULT_ENV", "CONDA_SHLVL", "CONDA_PROMPT_MODIFIER", "PIXI_*", "POETRY_ACTIVE", "PIPENV_ACTIVE",
	"PYENV_VERSION", "PYENV_DIR", "PYENV_VIRTUAL_ENV", "_PYENV_SHIM_PATH", "UV", "UV_RUN_RECURSION_DEPTH", "UV_PROJECT*", "UV_WORKING_DIRECTORY",
	// What makes an interpreter another one, or makes it wait or ask.
	"PYTHONHOME", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__", "PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONDEBUG",
	// A package manager of Node that started us, or a program of Node that talks with us.
	"npm_*", "INIT_CWD", "NODE_CHANNEL_*", "NODE_UNIQUE_ID",
	// Containers of programs, which bring libraries of their own.
	"APPIMAGE", "APPDIR", "ARGV0", "OWD", "SNAP", "SNAP_*",
}

// environment makes the environment of what we start from ours: without what is
// dropped, PATH continued by what the login shell's has besides and by the
// system's directories, and extra over all of it. It is pure and sorted.
func environment(goos string, ours []string, login string, extra []string) []string {
	env := parseEnviron(goos, ours)
	// A program that was unpacked for one run has libraries for itself alone.
	for _, base := range []string{env["APPDIR"], env["SNAP"]} {
		if base != "" {
			withoutBase(goos, env, base)
		}
	}
	for name := range env {
		if slices.ContainsFunc(dropped, func(pattern string) bool { return matches(goos, pattern, name) }) {
			delete(env, name)
		}
	}
	separator := joinPath(goos, []string{"", ""})
	// What a minimal PATH has not: scripts need the system's own programs.
	path := splitPath(goos, strings.Join([]string{env["PATH"], login, systemPath(goos, env)}, separator))
	env["PATH"] = joinPath(goos, path)
	for name, value := range parseEnviron(goos, extra) {
		env[name] = value
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// withoutBase takes what lies below base out of the lists of directories.
func withoutBase(goos string, env environ, base string) {
	f := facts{goos: goos}
	for _, name := range []string{"PATH", "PYTHONPATH", "XDG_DATA_DIRS", "LD_LIBRARY_PATH", "LD_PRELOAD"} {
		value, ok := env[name]
		if !ok {
			continue
		}
		kept := slices.DeleteFunc(splitPath(goos, value), func(p string) bool { return f.below(p, base) })
		if len(kept) == 0 {
			delete(env, name)
			continue
		}
		env[name] = joinPath(goos, kept)
	}
}

func matches(goos, pattern, name string) bool {
	pattern = envName(goos, pattern)
	if begin, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, begin)
	}
	return name == pattern
}

// systemPath is where the system's own programs are.
func systemPath(goos string, env environ) string {
	if goos == "windows" {
		root := env["SYSTEMROOT"]
		return root + `\System32;` + root
	}
	return "/usr/local/bin:/usr/bin:/bin"
}
