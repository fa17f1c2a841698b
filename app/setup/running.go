package setup

import (
	"fmt"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// runningPrograms lists the programs that our user runs. With an error comes what
// could be read.
func runningPrograms() ([]Program, error) {
	found, err := process.NewTable().Pass()
	if err != nil {
		err = fmt.Errorf("looking for running clients: %w", err)
	}
	all := make([]Program, 0, len(found))
	for _, p := range found {
		all = append(all, Program{PID: p.PID, Exe: p.Exe, Args: p.Args})
	}
	return all, err
}

// runningOf tells which clients run: their pids in ascending order, by the ID of the
// client. A client that does not run is not in it. Of a program with windows only
// the main process counts, not the helpers that it starts.
func runningOf(all []Program) map[string][]int {
	found := map[string][]int{}
	for _, p := range all {
		if id := clientOf(p); id != "" {
			found[id] = append(found[id], p.PID)
		}
	}
	for _, pids := range found {
		slices.Sort(pids)
	}
	return found
}

// clientOf is the ID of the client that a program is, "" for all others.
func clientOf(p Program) string {
	argv0 := ""
	if len(p.Args) > 0 {
		argv0 = p.Args[0]
	}
	exe := p.Exe
	if exe == "" {
		exe = argv0
	}
	name, path := monitor.ProgramName(exe), slashed(exe)
	switch {
	case isOurs(name) || isOurs(monitor.ProgramName(argv0)):
		return "" // also where it passes on what a client is called
	case strings.Contains(path, "/cursor-agent/"):
		return "cursor" // its command line tool, which brings a node of its own
	case command.RuntimeOf(name) == command.Node:
		return clientOfScript(exe, p.Args)
	case strings.Contains(path, "/claude/versions/"):
		// The program of Claude Code is called like its version.
		// Source: the page "Advanced setup" (code.claude.com/docs/en/setup), its part
		// on uninstalling.
		return "claude-code"
	}
	return clientOfProgram(name, path, p.Args)
}

// clientOfProgram is the client that a program of its own is. The path has slashes
// and lower case.
func clientOfProgram(name, path string, args []string) string {
	switch name {
	case "claude":
		if isClaudeDesktop(path) {
			return windowed("claude-desktop", args)
		}
		return "claude-code"
	case "claude-desktop":
		return windowed("claude-desktop", args)
	case "codex":
		return windowed("codex", args) // the command line tool, or the application with windows
	case "cursor":
		return windowed("cursor", args)
	case "cursor-agent":
		return "cursor"
	case "code", "code-insiders", "code - insiders", "codium", "vscodium":
		return windowed("vscode", args)
	case "electron":
		switch {
		case strings.Contains(path, "/visual studio code.app/"), strings.Contains(path, "/visual studio code - insiders.app/"),
			strings.Contains(path, "/vscodium.app/"):
			return windowed("vscode", args)
		case strings.Contains(path, "/claude-desktop/"):
			return windowed("claude-desktop", args)
		}
	}
	if strings.HasPrefix(name, "codex-x86_64-") || strings.HasPrefix(name, "codex-aarch64-") {
		return "codex" // as the files of its releases are called
	}
	return ""
}

// isClaudeDesktop tells the application from the command line tool: both are
// called claude, and the application brings the tool with it, on macOS as a
// claude.app below claude-code.
//
// Places of the application: Claude.app (macOS), AnthropicClaude\app-VERSION below
// LOCALAPPDATA and WindowsApps\Claude_VERSION_… (Windows), /opt/Claude (Linux).
// Sources: the issues 25579 and 26073 of anthropics/claude-code, and programs that
// look for it.
func isClaudeDesktop(path string) bool {
	if strings.Contains(path, "/claude-code/") {
		return false
	}
	for _, part := range []string{
		"/claude.app/contents/macos/",
		"/anthropicclaude/",
		"/windowsapps/claude_",
		"/opt/claude/",
		"/claude-desktop/",
	} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

// windowed is id for the main process of a program that is made with Electron, ""
// for a helper: that has a --type, or runs a script of the program or of an
// extension as node would. A file that is to be opened may be a script as well.
// Some helpers write their command line anew, as one text.
//
// Source: the page "Process Model" of Electron's documentation, and
// ELECTRON_RUN_AS_NODE in its page "Environment Variables".
func windowed(id string, args []string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "--type=") || strings.Contains(arg, " --type=") {
			return ""
		}
	}
	if len(args) < 2 {
		return id
	}
	script := slashed(args[1])
	if isJavaScript(script) && (strings.Contains(script, "/resources/app") || strings.Contains(script, "/extensions/")) {
		return ""
	}
	return id
}

// clientOfScript is the client whose script a runner of scripts runs.
func clientOfScript(exe string, args []string) string {
	script := command.Parse(exe, args).Script
	if title, found := strings.CutPrefix(script, "title:"); found {
		return scriptNames(title) // a script may write what it is called over its command line
	}
	path := slashed(script)
	for _, known := range []struct{ part, id string }{
		{"/@anthropic-ai/claude-code/", "claude-code"},
		{"/@openai/codex/", "codex"},
		{"/@google/gemini-cli/", "gemini-cli"},
	} {
		if strings.Contains("/"+path, known.part) {
			return known.id
		}
	}
	return scriptNames(monitor.ProgramName(script))
}

// scriptNames is the client whose command, as npm installs it, has that name.
func scriptNames(name string) string {
	switch name {
	case "claude":
		return "claude-code"
	case "codex":
		return "codex"
	case "gemini":
		return "gemini-cli"
	}
	return ""
}

func isJavaScript(path string) bool {
	return strings.HasSuffix(path, ".js") || strings.HasSuffix(path, ".mjs") || strings.HasSuffix(path, ".cjs")
}

// isOurs reports whether a program is one of ours.
func isOurs(name string) bool {
	return name == "lamplighter" || strings.HasPrefix(name, "lamplighter-")
}

// slashed is a path for comparing parts of it.
func slashed(path string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(path, " (deleted)"), `\`, "/"))
}
