package wire

import (
	"slices"
	"strings"
)

// Relevant reports whether a variable of the client's environment can change what
// a server does, so that it is sent, given to a server that is started for the
// client, and part of what servers are shared by. All others, such as those of a
// terminal or of one window, are not.
func Relevant(name string) bool {
	if slices.Contains(passingNames, name) || strings.HasPrefix(name, "LC_TERMINAL") {
		return false
	}
	hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.ContainsFunc(relevantPrefixes, hasPrefix) || slices.Contains(relevantNames, name)
}

// passingNames are those that speak of one process or one terminal although they are
// named like those that matter: the channel of a child of Node, the depth and prompt of
// a shell, who runs a script of npm, what a person gets who types Python.
var passingNames = []string{
	"PYENV_SHELL", "RBENV_SHELL", "MISE_SHELL",
	"NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_UNIQUE_ID", "NODE_REPL_HISTORY",
	"CONDA_SHLVL", "CONDA_PROMPT_MODIFIER", "UV_RUN_RECURSION_DEPTH",
	"npm_config_user_agent", "npm_config_local_prefix", "npm_config_init_module", "NPM_CONFIG_USER_AGENT", "NPM_CONFIG_LOCAL_PREFIX",
	"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHON_BASIC_REPL", "PYTHON_HISTORY",
}

// relevantPrefixes are those of the settings of Serena, of what starts it, and
// of the languages whose servers it runs, with the managers of their versions.
var relevantPrefixes = []string{
	"SERENA_", "UV_", "PYTHON", "CONDA_", "PIP_", "CGO_", "NODE_", "NPM_CONFIG_", "npm_config_", "RUST", "CARGO_",
	"DOTNET_", "NUGET_", "JAVA_", "JDK_", "GRADLE_", "MAVEN_", "GEM_", "BUNDLE_", "RUBY", "PERL5", "PHP_", "COMPOSER_",
	"JULIA_", "MIX_", "OPAM",
	"PYENV_", "RBENV_", "NVM_", "VOLTA_", "SDKMAN_", "ASDF_", "MISE_",
	"LD_", "DYLD_", "LC_", "SSL_CERT_", "REQUESTS_CA_",
}

// relevantNames are the others.
var relevantNames = []string{
	"PATH", "Path", "TMPDIR", "HOME", "USERPROFILE", "VIRTUAL_ENV", "LANG", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "CI",

	// Those of Go: see "go help environment". Its prefix is also that of keys of
	// Google.
	"GO111MODULE", "GO386", "GOAMD64", "GOARCH", "GOARM", "GOARM64", "GOAUTH", "GOBIN", "GOCACHE", "GOCACHEPROG", "GOCOVERDIR", "GODEBUG",
	"GOENV", "GOEXPERIMENT", "GOFIPS140", "GOFLAGS", "GOGC", "GOINSECURE", "GOMAXPROCS", "GOMEMLIMIT", "GOMIPS", "GOMIPS64", "GOMODCACHE",
	"GONOPROXY", "GONOSUMDB", "GOOS", "GOPACKAGESDRIVER", "GOPATH", "GOPLSCACHE", "GOPPC64", "GOPRIVATE", "GOPROXY", "GORISCV64", "GOROOT",
	"GOSUMDB", "GOTMPDIR", "GOTOOLCHAIN", "GOTRACEBACK", "GOVCS", "GOWASM", "GOWORK",
}
