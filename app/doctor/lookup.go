package doctor

import (
	"path/filepath"

	"lamplighter/monitor/process"
)

// pathDirs are the directories of a PATH that count for us: absolute ones, each
// once, in their order.
func pathDirs(path string) []string {
	var list []string
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if dir = filepath.Clean(dir); !seen[dir] {
			seen[dir] = true
			list = append(list, dir)
		}
	}
	return list
}

// lookIn is the path of the program of that name in the first of these directories
// that has one; "" for none.
func lookIn(dirs []string, name string) string {
	return process.FindProgram(dirs, name)
}
