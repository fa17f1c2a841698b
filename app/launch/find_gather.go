package launch

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// gather collects the facts of the list of candidates.
func (f *Finder) gather(ctx context.Context, w Wanted) facts {
	env := parseEnviron(f.o.GOOS, f.o.Environ)
	g := facts{goos: f.o.GOOS, home: f.o.Home, env: env, project: w.Project, disk: &realDisk{ctx: ctx, looks: &f.looks, targets: map[string]string{}}}
	g.path = splitPath(g.goos, env.get("PATH"))
	login, _ := f.LoginPath(ctx) // said when it failed
	for _, dir := range splitPath(g.goos, login) {
		if !slices.ContainsFunc(g.path, func(p string) bool { return g.comparable(p) == g.comparable(dir) }) {
			g.login = append(g.login, dir)
		}
	}
	if !f.serena(w) {
		return g
	}
	g.own = ownEnvironments(g)
	if g.windows() {
		g.python, _ = f.pythons.do(ctx, func() ([]string, error) { return f.askLauncher(ctx, g), ctx.Err() })
	}
	return g
}

// ownEnvironments finds the project's environments that lie outside of it.
// Sources: uv's "Project environment path", and poetry's generate_env_name: the
// directory is called NAME-HASH-pyVERSION, where HASH comes from the path.
func ownEnvironments(g facts) []string {
	if g.project == "" {
		return nil
	}
	var dirs []string
	if dir := g.env.get("UV_PROJECT_ENVIRONMENT"); dir != "" {
		if !g.absolute(dir) {
			dir = g.join(g.project, dir)
		}
		dirs = append(dirs, dir)
	}
	mark := "-" + poetryHash(g, g.disk.target(g.project)) + "-py"
	for _, cache := range poetryCaches(g) {
		for _, name := range g.disk.names(cache) {
			if strings.Contains(name, mark) {
				dirs = append(dirs, g.join(cache, name))
			}
		}
	}
	return dirs
}

func poetryHash(g facts, project string) string {
	sum := sha256.Sum256([]byte(g.comparable(project)))
	return base64.URLEncoding.EncodeToString(sum[:])[:8]
}

func poetryCaches(g facts) []string {
	var dirs []string
	add := func(base string, rest ...string) {
		if dir := g.under(base, rest...); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	add(g.env.get("POETRY_VIRTUALENVS_PATH"))
	add(g.env.get("POETRY_CACHE_DIR"), "virtualenvs")
	switch g.goos {
	case "windows":
		add(g.env.get("LOCALAPPDATA"), "pypoetry", "Cache", "virtualenvs")
	case "darwin":
		add(g.home, "Library", "Caches", "pypoetry", "virtualenvs")
	default:
		if cache := g.env.get("XDG_CACHE_HOME"); g.absolute(cache) {
			add(cache, "pypoetry", "virtualenvs")
		} else {
			add(g.home, ".cache", "pypoetry", "virtualenvs")
		}
	}
	return dirs
}

// askLauncher asks the py launcher of Windows which interpreters it knows.
func (f *Finder) askLauncher(ctx context.Context, g facts) []string {
	for _, p := range slices.Concat(placesOf(g.path, ""), placesOf(g.login, ""), g.places()) {
		for _, py := range g.programs(p.dir, "py") {
			if g.ofProject(py) {
				continue
			}
			o, err := execute(ctx, run{
				command: []string{py, "-0p"}, env: environment(g.goos, f.o.Environ, "", nil),
				dir: neutralDir(f.o.Home, f.o.StateDir), mark: newMark(), limit: f.o.Limits.Version,
			})
			if err == nil && o.startErr == nil && o.code == 0 {
				return parseLauncher(o.stdout)
			}
		}
	}
	return nil
}

// A line is " -V:3.12 *        C:\…\python.exe", or " -3.12-64 * C:\…" of older
// launchers; the star marks the one it would choose.
var launched = regexp.MustCompile(`(?m)^\s*-\S+\s+(?:\*\s+)?([A-Za-z]:\\[^\r\n]*?)\s*$`)

func parseLauncher(output string) []string {
	var list []string
	for _, m := range launched.FindAllStringSubmatch(output, -1) {
		if path := m[1]; strings.EqualFold(filepath.Ext(path), ".exe") && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}
