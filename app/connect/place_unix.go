//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime"
)

// usualSocket is in the folder of the user's session, or else in that of our
// state. It is "" when there is neither.
func usualSocket() string {
	if dir := absolute(os.Getenv("XDG_RUNTIME_DIR")); dir != "" {
		return filepath.Join(dir, "lamplighter", "share.sock")
	}
	if dir := stateDir(); dir != "" {
		return filepath.Join(dir, "run", "share.sock")
	}
	return ""
}

func stateDir() string {
	if named := os.Getenv("LAMPLIGHTER_STATE_DIR"); named != "" {
		whole, err := filepath.Abs(named)
		if err != nil {
			return named
		}
		return whole
	}
	dir := absolute(os.Getenv("XDG_STATE_HOME"))
	if home := absolute(os.Getenv("HOME")); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state")
		if runtime.GOOS == "darwin" {
			dir = filepath.Join(home, "Library", "Application Support")
		}
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "lamplighter")
}
