package registry

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file takes owner and rights from its directory.
func keepOwner(*os.File, fs.FileInfo) {}
