package ask

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
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
func split(goos string, command []string) (program, args []string, why string) {
	if goos == "windows" {
		command = WithoutShell(command)
	}
	if len(command) == 0 {
		return nil, nil, notSerena
	}
	if c, ok := serena.ParseCommand("", command); ok {
		n := len(command) - len(c.Args)
		return slices.Clip(command[:n]), c.Args, ""
	}
	i := slices.Index(command, subcommand)
	if i < 2 || !isPackage(command[i-1]) {
		return nil, nil, notSerena
	}
	launcher := command[1:i]
	switch monitor.ProgramName(command[0]) {
	case "uvx":
	case "uv":
		switch {
		case len(launcher) > 2 && launcher[0] == "tool" && launcher[1] == "run":
		case launcher[0] == "run":
			if !hasPlace(launcher[1:]) {
				return nil, command[i+1:], fromTheDir
			}
		default:
			return nil, nil, notSerena
		}
	case "pipx":
		if launcher[0] != "run" {
			return nil, nil, notSerena
		}
	default:
		return nil, nil, notSerena
	}
	return slices.Clip(command[:i+1]), command[i+1:], ""
}

// WithoutShell leaves out "cmd /c", with which many configurations of Windows
// start programs; what is left is the end of the command. A command in one word
// stays: cmd would take it apart.
func WithoutShell(command []string) []string {
	if len(command) == 0 || monitor.ProgramName(command[0]) != "cmd" {
		return command
	}
	for i, arg := range command[1:] {
		switch {
		case strings.EqualFold(arg, "/c"):
			return command[i+2:]
		case !strings.HasPrefix(arg, "/"):
			return command
		}
	}
	return command
}

// isPackage tells whether a word of a launcher names Serena: serena,
// serena-agent, serena-agent@latest, serena-agent==2.1.0.
func isPackage(word string) bool {
	name, _, _ := strings.Cut(word, "@")
	name, _, _ = strings.Cut(name, "==")
	return name == "serena" || name == "serena-agent" || name == "serena.exe"
}

// hasPlace tells whether uv is told which project it is to run in: otherwise it
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

// namesFiles tells whether what starts a server is given files or directories by
// relative names. A server runs elsewhere, so that they would be others there.
func namesFiles(dir string, program []string) bool {
	words := program[1:]
	if len(words) > 0 && words[len(words)-1] == subcommand {
		words = words[:len(words)-1]
	}
	if len(words) > 0 && !monitor.IsPython(monitor.ProgramName(program[0])) {
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
