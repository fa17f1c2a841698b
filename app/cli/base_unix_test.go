//go:build unix

package cli

import "lamplighter/app/config"

// baseOf is a platform whose control socket lies in dir.
func baseOf(dir string) config.Base { return config.Base{RuntimeDir: dir} }
