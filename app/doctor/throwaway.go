package doctor

import (
	"os"
	"path/filepath"
	"runtime"
)

// throwaway is a directory in which what candidates make when they are asked for
// their version is thrown away: Serena makes its home, uv its directories.
type throwaway struct{ dir string }

// newThrowaway makes it in the directory for temporary files.
func newThrowaway() (throwaway, error) {
	dir, err := os.MkdirTemp("", "lamplighter-doctor-")
	return throwaway{dir}, err
}

// remove may be called when there is none.
func (t throwaway) remove() {
	if t.dir == "" {
		return
	}
	// A candidate that was left alone may still write into it.
	_ = os.RemoveAll(t.dir)
}

// environ is the environment for candidates: theirs, except that nothing of the
// user's is made or fetched. Directories of uv that exist are used, since what uv
// can do without a network depends on them.
func (t throwaway) environ(of []string, home string) []string {
	env := append(of[:len(of):len(of)],
		"PYTHONDONTWRITEBYTECODE=1", "SERENA_HOME="+filepath.Join(t.dir, "serena"), "SERENA_USAGE_REPORTING=false", "UV_OFFLINE=1")
	places := uvPlaces(runtime.GOOS, home, func(name string) string { return variable(of, name) })
	for _, p := range places {
		if info, err := os.Stat(p.path); err != nil || !info.IsDir() {
			env = append(env, p.variable+"="+filepath.Join(t.dir, p.variable))
		}
	}
	return env
}

// uvPlace is a directory of uv and the variable that sets it.
type uvPlace struct{ variable, path string }

// uvPlaces are where uv keeps what it has fetched and installed.
//
// Source: docs.astral.sh/uv/reference/storage.
func uvPlaces(goos, home string, getenv func(string) string) []uvPlace {
	first := func(paths ...string) string {
		for _, p := range paths {
			if filepath.IsAbs(p) {
				return p
			}
		}
		return ""
	}
	below := func(base string, rest ...string) string {
		if base == "" {
			return ""
		}
		return filepath.Join(append([]string{base}, rest...)...)
	}
	cache := below(first(getenv("XDG_CACHE_HOME"), below(home, ".cache")), "uv")
	tools := below(first(getenv("XDG_DATA_HOME"), below(home, ".local", "share")), "uv", "tools")
	if goos == "windows" {
		cache = below(getenv("LOCALAPPDATA"), "uv", "cache")
		tools = below(getenv("APPDATA"), "uv", "tools")
	}
	return []uvPlace{{"UV_CACHE_DIR", first(getenv("UV_CACHE_DIR"), cache)}, {"UV_TOOL_DIR", first(getenv("UV_TOOL_DIR"), tools)}}
}

// uvPythons are where uv keeps the interpreters it has fetched.
func uvPythons(home string, environ []string) []string {
	var list []string
	if dir := variable(environ, "UV_PYTHON_INSTALL_DIR"); dir != "" {
		list = append(list, dir)
	}
	for _, p := range uvPlaces(runtime.GOOS, home, func(name string) string { return variable(environ, name) }) {
		if p.variable == "UV_TOOL_DIR" && p.path != "" {
			list = append(list, filepath.Join(filepath.Dir(p.path), "python"))
		}
	}
	return list
}
