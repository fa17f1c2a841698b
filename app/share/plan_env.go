package share

import (
	"maps"
	"slices"
	"strings"

	"lamplighter/app/share/wire"
)

// relevant are the variables that can change what a server does. On Windows, where case
// means nothing, their names are in capitals.
func relevant(goos string, env []string) map[string]string {
	found := map[string]string{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if name = envName(goos, name); ok && wire.Relevant(name) {
			found[name] = value
		}
	}
	return found
}

// surplus are the names of variables that we have and that a server for a client
// with that environment is not to get. PATH stays: nothing runs without.
func surplus(goos string, ours []string, client map[string]string) []string {
	left := relevant(goos, ours)
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
