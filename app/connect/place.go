package main

import (
	"os"
	"path/filepath"
)

// absolute is a path that is absolute, and "" in place of another.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

// findSocket decides where the background process listens. It finds what
// config.Find does, which would cost us more than all the rest.
func findSocket(named string) string {
	if named != "" {
		return named
	}
	if named = os.Getenv("LAMPLIGHTER_SOCKET"); named != "" {
		return named
	}
	return usualSocket()
}
