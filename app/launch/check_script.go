package launch

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// shebang returns the interpreter that a script names: in its first line, or,
// where that would be too long for the system, in the second one, in which sh
// replaces itself by it. Empty when the file is no script.
func shebang(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // opening a pipe would wait
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	head, _ := io.ReadAll(io.LimitReader(file, 4096)) // what could be read counts
	named := parseShebang(head)
	if strings.HasPrefix(named, "$") {
		// A script that uv made to be moved: its interpreter lies beside it.
		return filepath.Join(filepath.Dir(resolved(path)), "python")
	}
	return named
}

func parseShebang(head []byte) string {
	rest, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	first, rest, _ := bytes.Cut(rest, []byte("\n"))
	words := strings.Fields(string(first))
	if len(words) == 0 {
		return ""
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	if call, ok := strings.CutPrefix(string(second), "'''exec' "); ok && filepath.Base(words[0]) == "sh" {
		call = strings.TrimSpace(call)
		if quotedPath, ok := strings.CutPrefix(call, `"`); ok {
			path, _, _ := strings.Cut(quotedPath, `"`)
			return path
		}
		path, _, _ := strings.Cut(call, " ")
		return path
	}
	return words[0]
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
