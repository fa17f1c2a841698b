package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// verdictKey is the identity of everything a check depends on, as far as it is
// known: the command, the environment, and its files as identityOf tells them.
func verdictKey(command, env []string, files string, offline bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%q %t\n", command, offline)
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if name = strings.ToUpper(name); name == "PATH" || strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, "UV_") {
			fmt.Fprintf(&text, "%q\n", entry)
		}
	}
	text.WriteString(files)
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:])
}

// identityOf tells apart the files that a program runs as they are now, and
// where an environment of Python keeps its packages, whose directory changes
// with each that is installed.
func identityOf(program string) string {
	var text strings.Builder
	for _, path := range dependsOn(program) {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		fmt.Fprintf(&text, "%q %d %d %d\n", path, info.Size(), info.ModTime().UnixNano(), inode(info))
	}
	return text.String()
}

// dependsOn returns the files of a program: itself, what links lead to, the
// interpreter of a script, and directories of Python's packages near them.
func dependsOn(path string) []string {
	files := []string{path, resolved(path)}
	if script := shebang(path); script != "" {
		files = append(files, script, resolved(script))
	}
	dirs := map[string]bool{}
	for _, file := range files {
		dirs[filepath.Dir(file)] = true
	}
	for dir := range dirs {
		for _, pattern := range []string{
			filepath.Join(filepath.Dir(dir), "lib", "python3*", "site-packages"),
			filepath.Join(filepath.Dir(dir), "Lib", "site-packages"),
			filepath.Join(dir, "Lib", "site-packages"),
		} {
			found, _ := filepath.Glob(pattern) // no pattern is bad; a directory may have odd characters
			files = append(files, found...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
