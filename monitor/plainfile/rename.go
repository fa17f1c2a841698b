package plainfile

import "os"

// Rename is os.Rename. On Windows it waits a moment for whoever has one of the
// files open without letting others rename it, such as a virus scanner.
func Rename(from, to string) error {
	return again(func() error { return os.Rename(from, to) })
}

// RemoveAll is os.RemoveAll. It waits as Rename does.
func RemoveAll(path string) error {
	return again(func() error { return os.RemoveAll(path) })
}
