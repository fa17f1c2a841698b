package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// pathAdvice says how to have the programs found by their names, "" when they are:
// path is PATH, and dir the directory of the programs.
func pathAdvice(system, path, dir, home, shell string) string {
	if dir == "" || onPath(system, path, dir) {
		return ""
	}
	if system == "windows" {
		return "To call lamplighter by its name, add " + monitor.Clean(dir) + " to Path in the environment variables of your account.\n"
	}
	if strings.Contains(dir, ":") { // which parts the directories of PATH
		return ""
	}
	quoted := shellPath(home, dir)
	file, line := "~/.profile", `export PATH=`+quoted+`:"$PATH"`
	switch filepath.Base(shell) {
	case "fish":
		file, line = "~/.config/fish/config.fish", "fish_add_path "+quoted
	case "zsh":
		file = "~/.zprofile"
	}
	return "To call lamplighter by its name, add this line to " + file + ", and log in again:\n  " + monitor.Clean(line) + "\n"
}

// onPath reports whether a directory is on PATH.
func onPath(system, path, dir string) bool {
	list := strings.Split(path, ":")
	same := func(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }
	if system == "windows" {
		list = strings.Split(path, ";")
		same = func(a, b string) bool {
			trim := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "/", `\`), `\`) }
			return strings.EqualFold(trim(a), trim(b))
		}
	}
	return slices.ContainsFunc(list, func(each string) bool { return each != "" && same(each, dir) })
}

// shellPath is a path for a shell, with $HOME for the home directory.
func shellPath(home, dir string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace
	if rest, below := strings.CutPrefix(dir, home+"/"); below && home != "" {
		return `"$HOME/` + escape(rest) + `"`
	}
	return `"` + escape(dir) + `"`
}
