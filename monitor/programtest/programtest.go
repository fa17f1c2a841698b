// Package programtest writes programs for tests that run them.
//
// What is in the programs is the business of each test. Only tests import it.
package programtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// WriteFile is os.WriteFile for a file that is going to be executed. No process
// is forked meanwhile: a child has what is open here until it executes its own
// program, and a file that somebody may write to cannot be executed (ETXTBSY).
func WriteFile(name string, data []byte, perm fs.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, data, perm)
}

// Copy makes a program one of another name, in a directory of its own, and
// returns its path. The program is a path, or looked up on the PATH.
func Copy(t testing.TB, program, name string) string {
	t.Helper()
	found, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(found)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// Shell makes a shell of another name, and beside it what it runs when it starts in its
// directory and its first argument is verb. It returns the path of the shell.
func Shell(t testing.TB, name, verb, script string) string {
	t.Helper()
	path := Copy(t, "/bin/sh", name)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), verb), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
