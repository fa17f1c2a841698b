package process

import (
	"os/exec"
	"path/filepath"
)

// FindProgram is the path of the program of that name in the first of these absolute
// directories that has one, as the system starts it, "" when none has.
func FindProgram(dirs []string, name string) string {
	for _, dir := range dirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}
