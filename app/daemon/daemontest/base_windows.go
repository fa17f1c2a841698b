package daemontest

import (
	"path/filepath"

	"lamplighter/app/config"
)

// Base is a platform whose pipes are dir's alone.
func Base(dir string) config.Base {
	return config.Base{PipeName: `\\.\pipe\lamplighter-test-` + filepath.Base(dir), SharePipe: `\\.\pipe\lamplighter-test-share-` + filepath.Base(dir)}
}
