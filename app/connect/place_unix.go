//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// usualSockets are in the directory of the user's session, which has its place
// where systemd runs even when the environment does not say so, and in that of
// our state.
func usualSockets() []string {
	var all []string
	if dir := absolute(os.Getenv("XDG_RUNTIME_DIR")); dir != "" {
		all = append(all, filepath.Join(dir, "lamplighter", "share.sock"))
	} else if runtime.GOOS == "linux" {
		dir := "/run/user/" + strconv.Itoa(os.Getuid())
		if _, err := os.Lstat(dir); err == nil {
			all = append(all, filepath.Join(dir, "lamplighter", "share.sock"))
		}
	}
	if dir := stateDir(); dir != "" {
		all = append(all, filepath.Join(dir, "run", "share.sock"))
	}
	return all
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

// absolute is a path that is absolute, and "" in place of another.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}
