package launch

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// askLogin returns the PATH that a new session of the user would get. Windows
// has no login shell, but a process that was started before a program was
// installed still has the PATH of that time.
//
// Source: "User Environment Variables" of the Windows documentation: PATH is the
// machine's followed by the user's.
func (f *Finder) askLogin(context.Context) (string, error) {
	var parts []string
	var failed error
	for _, place := range []struct {
		root registry.Key
		path string
	}{
		{registry.LOCAL_MACHINE, `SYSTEM\CurrentControlSet\Control\Session Manager\Environment`},
		{registry.CURRENT_USER, `Environment`},
	} {
		value, err := readPath(place.root, place.path)
		if err != nil {
			failed = err
			continue
		}
		parts = append(parts, value)
	}
	if len(parts) == 0 {
		return "", fmt.Errorf("reading the PATH of new sessions from the registry: %w", failed)
	}
	return strings.Join(parts, ";"), nil
}

func readPath(root registry.Key, path string) (string, error) {
	key, err := registry.OpenKey(root, path, registry.QUERY_VALUE)
	if err != nil {
		return "", err
	}
	defer key.Close()
	value, kind, err := key.GetStringValue("Path")
	if err != nil {
		return "", err
	}
	if kind == registry.EXPAND_SZ {
		return registry.ExpandString(value)
	}
	return value, nil
}
