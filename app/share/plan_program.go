package share

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// tools are the programs that language servers and what starts Serena use, as
// they are called on a PATH. Two clients whose PATHs find the same ones can
// share, whatever else their PATHs hold.
var tools = []string{
	"bash", "cargo", "clangd", "csc", "deno", "dotnet", "elixir", "erl", "gcc", "ghc", "git", "go", "gopls", "gradle", "haskell-language-server-wrapper", "java", "javac",
	"julia", "kotlinc", "lua", "mvn", "node", "npm", "npx", "perl", "php", "pyright", "python", "python3", "ruby", "rust-analyzer", "rustc", "rustup",
	"scala", "solargraph", "swift", "terraform", "typescript-language-server", "uv", "uvx", "zig", "zls",
}

// foundTool is a tool and where a PATH finds it; "" is nowhere.
type foundTool struct{ name, path string }

// pathDirs are the directories of a client's PATH. One that is relative is meant
// from the client's working directory.
func pathDirs(path, dir string) []string {
	var dirs []string
	for _, d := range filepath.SplitList(path) {
		if d == "" && runtime.GOOS == "windows" {
			continue
		}
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if d = filepath.Clean(d); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

func hasSeparator(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// findProgram returns the absolute path of what a client starts by that name;
// "" when there is none.
func findProgram(dir string, dirs []string, name string) string {
	if hasSeparator(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		dirs, name = []string{filepath.Dir(name)}, filepath.Base(name)
	}
	return process.FindProgram(runtime.GOOS, dirs, name)
}

// findTools finds each of the tools. Directories count without symbolic links:
// some version managers make one for each shell that leads to the same place.
func findTools(dirs []string) (found []foundTool) {
	for _, name := range tools {
		path := process.FindProgram(runtime.GOOS, dirs, name)
		if path != "" {
			path = filepath.Join(canonical(filepath.Dir(path)), filepath.Base(path))
		}
		found = append(found, foundTool{name, path})
	}
	return found
}

// identityOf is the same for two paths that run the same program. Where links
// lead counts only when the program is called the same there: an interpreter is
// another one in another environment, and some programs are many in one.
func identityOf(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err == nil && filepath.Base(real) == filepath.Base(program) && !command.IsPython(monitor.ProgramName(program)) {
		return real
	}
	return filepath.Join(canonical(filepath.Dir(program)), filepath.Base(program))
}

// stampOf tells apart a program's file as it is now from what it was or will be.
func stampOf(program string) string {
	info, err := os.Stat(program)
	if err != nil {
		return "gone"
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}
