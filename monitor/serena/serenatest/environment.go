package serenatest

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are enough for Serena to start without writing its own first, which
// two servers of one home would do at the same time.
const settings = `language_backend: LSP
gui_log_window: false
web_dashboard: true
web_dashboard_open_on_launch: false
projects: []
`

// initialise makes home a home in which Serena has run before.
func initialise(home string) error {
	path := filepath.Join(home, ".serena", "serena_config.yml")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(settings), 0o600))
}

// foreign are the beginnings of names of variables that would change how a
// server behaves from one machine to the next.
var foreign = []string{"SERENA_", "UV_", "PYTHON", "VIRTUAL_ENV", "npm_", "NPM_", "NODE_", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_", "XDG_CONFIG_HOME", markName}

// environment is what a server sees: the test's own environment with another
// home, the tools in front of the PATH, and no way to the network. What uvx
// starts was installed from one list for Serena, and as of one day for others.
func environment(own []string, tools, home string, other bool) []string {
	var env []string
	path := filepath.Join(tools, "bin") + ":" + filepath.Join(tools, "node", "bin")
	for _, kv := range own {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			path += ":" + value
		case name == "HOME":
		case slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		default:
			env = append(env, kv)
		}
	}
	env = append(env,
		"PATH="+path,
		"HOME="+home,
		"SERENA_HOME="+filepath.Join(home, ".serena"),
		"SERENA_USAGE_REPORTING=false",
		"CI=true",
		"UV_CACHE_DIR="+filepath.Join(tools, "uv"),
		"UV_OFFLINE=1",
		"UV_PYTHON_DOWNLOADS=never",
		"NPM_CONFIG_USERCONFIG="+filepath.Join(tools, "npmrc"),
		// What the language server of a Go project keeps below the home could not be
		// removed with it.
		"GOFLAGS=-modcacherw",
	)
	if other {
		env = append(env, "UV_CONFIG_FILE="+filepath.Join(tools, "uv.toml"))
	} else {
		// A plain path with a space in it would count as two.
		constraint := url.URL{Scheme: "file", Path: filepath.Join(tools, "requirements.txt")}
		env = append(env, "UV_CONSTRAINT="+constraint.String())
	}
	return env
}
