package share

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/serena"
)

// subcommand is the one of Serena that serves MCP.
const subcommand = "start-mcp-server"

// What says why a command is not shared. Each is a part of a sentence.
const (
	notSerena  = "it is not a Serena, which is the only server that lamplighter can share"
	fromTheDir = "what it starts depends on the directory where it is started"
)

// split divides a command into what starts the server, up to its subcommand,
// and the server's own arguments; or says why it is none that can be shared. Where
// that is for fromTheDir the arguments are known as well.
func split(goos string, words []string) (program, args []string, why string) {
	if goos == "windows" {
		words = command.WithoutShell(words)
	}
	if c, ok := serena.ParseCommand("", words); ok {
		n := len(words) - len(c.Args)
		return slices.Clip(words[:n]), c.Args, ""
	}
	// What stands behind the program are its arguments: another one that is given the
	// command of Serena, such as a guard before its tools, is no Serena, and neither is
	// a script of that name.
	c := command.Parse("", words)
	if len(c.Through) != 1 || c.Runtime != 0 || !serena.IsPackage(c.Program) || len(c.Args) == 0 || c.Args[0] != subcommand {
		return nil, nil, notSerena
	}
	launcher, args := c.Through[0], c.Args[1:]
	switch {
	case !command.Is(monitor.ProgramName(launcher[0]), command.Fetcher):
		return nil, nil, notSerena
	case c.Package == "" && !hasPlace(launcher[1:]):
		return nil, args, fromTheDir // in a project, which is that of the working directory
	case c.Package != "" && c.Package != c.Program && !isSource(c.Package):
		return nil, nil, notSerena // it may call a program of its own by that name
	}
	return slices.Clip(words[:len(launcher)+2]), args, ""
}

// isSource reports whether Serena comes from there: its package, its repository or a
// fork of that, or a clone.
func isSource(from string) bool {
	if strings.HasPrefix(from, ".") {
		return true // a relative name, which is refused for that
	}
	from, _, _ = strings.Cut(from, " ")
	from, _, _ = strings.Cut(from, "#")
	if _, rest, found := strings.Cut(from, "://"); found {
		_, from, _ = strings.Cut(rest, "/") // the host is none of it
	}
	from, _, _ = strings.Cut(strings.ReplaceAll(from, `\`, "/"), "@")
	if i := strings.IndexAny(from, "[=<>~!;"); i >= 0 {
		from = from[:i] // which version
	}
	return serena.IsPackage(strings.TrimSuffix(path.Base(from), ".git"))
}

// hasPlace reports whether uv is told which project it is to run in: otherwise it
// is that of the working directory.
func hasPlace(words []string) bool {
	for i, word := range words {
		name, value, joined := strings.Cut(word, "=")
		if name != "--directory" && name != "--project" {
			continue
		}
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if filepath.IsAbs(value) {
			return true
		}
	}
	return false
}

// namesFiles reports whether what starts a server is given files or directories by
// relative names. A server runs elsewhere, so that they would be others there.
func namesFiles(dir string, program []string) bool {
	words := program[1:]
	if len(words) > 0 && words[len(words)-1] == subcommand {
		words = words[:len(words)-1]
	}
	if len(words) > 0 && !command.IsPython(monitor.ProgramName(program[0])) {
		words = words[:len(words)-1] // the name of what a launcher runs
	}
	before := "" // the option whose value comes
	for _, word := range words {
		option, value := before, word
		before = ""
		if strings.HasPrefix(word, "-") {
			joined := false
			if option, value, joined = strings.Cut(word, "="); !joined {
				before = option
			}
		}
		// These take names of packages, and of files only with a separator.
		isName := (option == "--from" || option == "--with") && !strings.ContainsAny(value, `/\`)
		switch {
		case strings.HasPrefix(value, "."):
			return true
		case value == "", isName, filepath.IsAbs(value):
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, value)); err == nil {
			return true
		}
	}
	return false
}
