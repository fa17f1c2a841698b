package rules

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// IsLauncher tells whether a process only starts one command and waits for it:
// npx, uvx and the like, a shell that was given one command line, timeout, the
// docker command above its plugins, and our own keeper. Such a process belongs to the tree of a
// server when the server, or another launcher above it, is its only child and
// has its standard input, which the caller checks.
//
// What the command is does not matter, so that a server is found below
// launchers that name only its package or its repository: since the launcher
// runs nothing else, its only child is that command. What may do more never
// counts: an interactive shell, a shell that runs a file, a line with a pipe, a
// job in the background or a second command, and tools whose tasks may have
// steps (make, npm run, bun run, hatch, pixi).
func IsLauncher(exe string, args []string) bool {
	args = trim(args)
	if exe == "" || len(args) == 0 {
		return false
	}
	if IsKeeper(exe, args) {
		return true
	}
	program, name := monitor.ProgramName(exe), monitor.ProgramName(args[0])
	if kindOf(program) == node && len(args) == 1 {
		// npm rewrites its title: "npm exec PACKAGE ARGUMENTS".
		words := strings.Fields(args[0])
		return len(words) > 2 && words[0] == "npm" && (words[1] == "exec" || words[1] == "x")
	}
	if shell := shellNamed(name); shell != noShell {
		return (shellNamed(program) == shell || program == "busybox") && runsOneCommand(shell, args[1:])
	}
	switch f := kindOf(program); {
	case program == "bun":
		return name == "bunx" && hasCommand(args[1:]) || name == "bun" && isRunner("bun", args[1:])
	case program == "deno":
		return isRunner("deno", args[1:])
	case f != kindOf(name) && f != other && f != native:
		return false
	case f == node:
		what, rest, ok := script(args[1:], nodeValues, nil)
		return ok && isRunner(monitor.ProgramName(what), rest)
	case f == python:
		_, what, rest, ok := pythonScript(args[1:])
		return ok && isRunner(monitor.ProgramName(what), rest)
	case f == container:
		return isPluginAbove(args[1:])
	}
	// A program of several tools goes by its argv[0].
	if program != name && program != "busybox" && program != "coreutils" && program != "toybox" && (program != "uv" || name != "uvx") {
		return false
	}
	return isRunner(name, args[1:])
}

// isRunner tells whether a tool, called with args, runs one command.
func isRunner(name string, args []string) bool {
	if strings.HasPrefix(name, "yarn-") { // a release in the project's own directory
		name = "yarn"
	}
	switch name {
	case "npx", "npx-cli", "uvx", "pnpx", "pnx", "bunx":
		return hasCommand(args)
	case "npm", "npm-cli":
		return subcommand(args, "exec", "x")
	case "pnpm", "pn":
		return subcommand(args, "dlx", "exec")
	case "yarn", "yarnpkg":
		return subcommand(args, "dlx", "exec")
	case "bun", "deno":
		return subcommand(args, "x")
	case "uv":
		if rest, ok := behind(args, "tool"); ok {
			return subcommand(rest, "run", "uvx")
		}
		return subcommand(args, "run")
	case "pipx", "poetry":
		return subcommand(args, "run")
	case "pixi", "mise", "volta", "fnm", "direnv":
		return subcommand(args, "exec", "x", "run") && (name == "volta" || !slices.Contains(args, "run"))
	case "op", "doppler":
		return subcommand(args, "run")
	case "env", "nice", "nohup", "setsid", "timeout", "stdbuf", "ionice":
		return hasCommand(args)
	}
	return false
}

// valueOptions are options of the tools above whose value may be an argument of
// its own and which may stand before the subcommand.
var valueOptions = []string{
	"--directory", "--project", "--config-file", "--cache-dir", "--color", "--prefix", "--dir", "--cwd", "-C", "--registry",
	"--userconfig", "--cache", "--loglevel", "--config", "--env-file", "-P", "--account", "--log-level", "--allow-insecure-host",
}

// behind returns what follows one of the subcommands when it is the first
// argument that is not an option.
func behind(args []string, names ...string) ([]string, bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains(valueOptions, a):
			i++
		case strings.HasPrefix(a, "-"):
		default:
			return args[i+1:], slices.Contains(names, a)
		}
	}
	return nil, false
}

func subcommand(args []string, names ...string) bool {
	rest, ok := behind(args, names...)
	return ok && hasCommand(rest)
}

// hasCommand tells whether anything but options follows. These tools run
// nothing without it.
func hasCommand(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a != "" && !strings.HasPrefix(a, "-") })
}

// isPluginAbove: "docker compose run SERVICE" and "docker mcp gateway run" start
// the plugin of that name with the same arguments and wait for it.
func isPluginAbove(args []string) bool {
	args, ok := skipGlobal(args)
	if !ok {
		return false
	}
	if rest, ok := behind(args, "compose"); ok {
		rest, ok = skipCompose(rest)
		return ok && subcommand(rest, "run", "exec")
	}
	rest, ok := behind(args, "mcp")
	if !ok {
		return false
	}
	rest, ok = behind(rest, "gateway")
	if !ok {
		return false
	}
	_, ok = behind(rest, "run")
	return ok
}

// skipCompose skips the options of "docker compose" itself.
func skipCompose(args []string) ([]string, bool) {
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory", "--ansi", "--progress", "--parallel":
			args = args[1:]
		}
		args = args[1:]
	}
	return args, len(args) > 0
}
