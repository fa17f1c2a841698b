package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FindProgram is the path of the program of that name in the first of these directories
// that has one, as a system of that name starts it, "" when none has.
func FindProgram(goos string, dirs []string, name string) string {
	endings := []string{""}
	if windows := []string{".com", ".exe", ".bat", ".cmd"}; goos == "windows" && !slices.Contains(windows, strings.ToLower(filepath.Ext(name))) {
		endings = windows
	}
	for _, dir := range dirs {
		for _, ending := range endings {
			path := filepath.Join(dir, name+ending)
			info, err := os.Stat(path)
			if err == nil && !info.IsDir() && (goos == "windows" || info.Mode().Perm()&0o111 != 0) {
				return path
			}
		}
	}
	return ""
}
