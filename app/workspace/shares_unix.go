//go:build unix

package workspace

import "os"

// link makes a link at place in root that leads to a directory.
func link(root *os.Root, to, place string) error { return root.Symlink(to, place) }
