package installer

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mountedIn refuses a tree when something is mounted on what goes of it, or below
// that, also a directory of the same file system: what is there lies elsewhere, too,
// and would be gone there.
func (i *Installer) mountedIn(tr tree) error {
	entries, err := os.ReadDir(tr.Path)
	if err != nil {
		return nil // nothing of it goes, and whoever removes it says why
	}
	table := i.mounts()
	for _, path := range i.going(tr, entries) {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		if at, ok := mountBelow(table, path); ok {
			return fmt.Errorf("something is mounted on %s, which would be emptied with %s; unmount it first", shown(at), shown(tr.Path))
		}
	}
	return nil
}

// mountBelow finds a mount on a path or below it.
//
// Source: proc_pid_mountinfo(5).
func mountBelow(table, path string) (string, bool) {
	for line := range strings.Lines(table) {
		fields := strings.Split(line, " ") // other white space, such as a no-break space, is part of a path
		if len(fields) < 5 {
			continue
		}
		if at := unescapeMount(fields[4]); within(at, path) {
			return at, true
		}
	}
	return "", false
}

// unescapeMount reads \040 and its like.
func unescapeMount(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
