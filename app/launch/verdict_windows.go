package launch

import "io/fs"

// inode is 0: size and time have to do here.
func inode(fs.FileInfo) uint64 { return 0 }
