package launch

import (
	"os"
	"path/filepath"
	"runtime"
)

// neutralName is below the state directory, and empty.
const neutralName = "neutral"

// neutralDir returns the directory in which what we start runs, with no file of
// a project in sight: interpreters and tools look for modules and settings where
// they run. It is an empty one below state, made when state is there; without
// state it is the top of the file system, or on Windows that of the system. home
// is the last resort.
func neutralDir(home, state string) string {
	if state != "" {
		dir := filepath.Join(state, neutralName)
		if err := os.Mkdir(dir, 0o700); err == nil || isEmpty(dir) {
			return dir
		}
	}
	top := "/"
	if runtime.GOOS == "windows" {
		top = os.Getenv("SYSTEMROOT")
	}
	if info, err := os.Stat(top); err == nil && info.IsDir() {
		return top
	}
	return home
}

// isEmpty reports whether dir is a directory of its own with nothing in it. What
// a server has left there could be taken for a module by the next one.
func isEmpty(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}
