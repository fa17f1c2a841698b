//go:build !windows

package installer

// readRun reads nothing: only Windows has a registry.
func readRun(string) ([]runValue, error) { return nil, nil }
