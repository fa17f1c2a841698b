package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/daemon"
)

// passing says that this program is where it may not stay, "" when it is not. The
// clients would run what lies there.
func (s setupWords) passing(self, temp string) string {
	why := passingBecause(self, []string{temp, os.TempDir(), "/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/folders"})
	if why == "" {
		return ""
	}
	return s.short(filepath.Dir(self)) + " is " + why + ": when it goes, your clients' servers do not start any more. Put lamplighter and " + daemon.ConnectName + " into a directory that stays, and run setup from there"
}

// passingBecause says as a part of a sentence why a program may not stay where it
// is, "" when nothing speaks against it.
func passingBecause(self string, temps []string) string {
	if self == "" {
		return ""
	}
	dir := filepath.Dir(self)
	parts := strings.FieldsFunc(dir, func(r rune) bool { return r == '/' || r == '\\' })
	if slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, "go-build") }) {
		return "a directory of go run"
	}
	for _, temp := range temps {
		if temp == "" {
			continue
		}
		if rest, err := filepath.Rel(temp, dir); err == nil && filepath.IsLocal(rest) {
			return "a directory for temporary files"
		}
	}
	return ""
}
