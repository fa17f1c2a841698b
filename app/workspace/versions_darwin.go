package workspace

import "golang.org/x/sys/unix"

// flush has all that was written below dir reach the disk soon: there is no call
// that waits for a whole file system.
func flush(string) error { return unix.Sync() }
