package cli

import (
	"path/filepath"

	"lamplighter/app/config"
)

// baseOf is a platform whose pipes are dir's alone.
func baseOf(dir string) config.Base {
	return config.Base{PipeName: `\\.\pipe\lamplighter-test-` + filepath.Base(dir), SharePipe: `\\.\pipe\lamplighter-test-share-` + filepath.Base(dir)}
}
