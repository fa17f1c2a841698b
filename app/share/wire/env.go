package wire

import "strings"

// Relevant tells whether a variable of the client's environment can change what
// a server does, so that it is sent, given to a server that is started for the
// client, and part of what servers are shared by. All others, such as those of a
// terminal or of one window, are not.
func Relevant(name string) bool {
	for _, prefix := range relevantPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, exact := range relevantNames {
		if name == exact {
			return true
		}
	}
	return false
}

// relevantPrefixes are those of the settings of Serena, of what starts it, and
// of the languages whose servers it runs.
var relevantPrefixes = []string{
	"SERENA_", "UV_", "PYTHON", "CONDA_", "PIP_", "GO", "CGO_", "NODE_", "NPM_CONFIG_", "npm_config_", "RUST", "CARGO_",
	"DOTNET_", "NUGET_", "JAVA_", "JDK_", "GRADLE_", "MAVEN_", "GEM_", "BUNDLE_", "RUBY", "PERL5", "PHP_", "COMPOSER_",
	"LD_", "DYLD_", "LC_", "SSL_CERT_", "REQUESTS_CA_",
}

// relevantNames are the others.
var relevantNames = []string{
	"PATH", "Path", "HOME", "USERPROFILE", "VIRTUAL_ENV", "LANG", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "CI",
}
