//go:build !linux

package process

// SharesDirectory is always true: only Linux shows processes other file systems.
func SharesDirectory(int, string) (bool, error) { return true, nil }

// SharesPath is always true likewise.
func SharesPath(int, string) (bool, error) { return true, nil }
