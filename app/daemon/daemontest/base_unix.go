//go:build unix

package daemontest

import "lamplighter/app/config"

// Base is a platform whose control socket lies in dir.
func Base(dir string) config.Base { return config.Base{RuntimeDir: dir} }
