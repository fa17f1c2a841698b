//go:build !linux

package registry

import "io/fs"

// lockHolder is not known here.
func lockHolder(fs.FileInfo) (pid int, name string) { return 0, "" }
