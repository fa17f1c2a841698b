package ask

import (
	"slices"
	"strings"

	"lamplighter/app/share/wire"
)

// relevant are the variables that can change what a server does. On Windows,
// where case means nothing, the names are in capitals.
func relevant(goos string, env []string) map[string]string {
	kept := map[string]string{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || !wire.Relevant(name) && (goos != "windows" || !wire.Relevant(strings.ToUpper(name))) {
			continue
		}
		if name = envName(goos, name); !passing(name) {
			kept[name] = value
		}
	}
	return kept
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
