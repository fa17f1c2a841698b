//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// manyLines are far more than any buffer holds.
const manyLines = 100_000

// fakePath is a short one: a socket's path has little room.
func fakePath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lamp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "share.sock")
}

func listenFake(path string) (net.Listener, error) { return net.Listen("unix", path) }
