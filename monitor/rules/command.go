package rules

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// family is a kind of program that runs what its arguments name.
type family int

const (
	native family = iota // the program itself is what runs
	node
	python
	java
	container
	other // a shell or a launcher: never a server
)

// command is a command line as rules see it.
type command struct {
	family family
	exe    []string // native: the parts of the executable's path
	name   string   // native: what argv[0] calls it
	flag   string   // -m or -jar when what stands behind it
	what   []string // otherwise: the parts of the script, module or image
	rest   []string // the arguments behind it
}

// familyMembers are typical names of interpreters and container programs.
var familyMembers = []string{
	"python", "python3", "python3.13", "pypy3", "py", "node", "nodejs", "node-22", "bun", "deno", "java", "javaw",
	"docker", "podman", "nerdctl", "finch",
}

// notServers are programs that only start others, or what people work in.
var notServers = []string{
	"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "cmd", "powershell", "pwsh", "busybox", "npx", "npm", "pnpm", "pnpx", "yarn", "bunx",
	"uv", "uvx", "pipx", "poetry", "env", "timeout", "nice", "nohup", "sudo", "electron", "tmux", "screen", "ssh", "systemd", "launchd",
	"make", "gmake", "just", "task", "ninja", "bazel", "go", "cargo", "gradle", "gradlew", "mvn", "conda", "mamba", "hatch", "pdm", "rye", "pixi", "mise",
	"direnv", "volta", "fnm", "asdf", "op", "doppler", "setsid", "stdbuf", "ionice", "xargs", "watch", "entr", "strace", "gdb", "doas", "flatpak", "snap",
	"bwrap", "firejail", "tini", "dumb-init", "catatonit", "runc", "crun", "containerd-shim",
}

// familyNamed is the family that a rule names.
func familyNamed(program string) family {
	switch strings.ToLower(program) {
	case "node":
		return node
	case "python":
		return python
	case "java":
		return java
	case "docker":
		return container
	}
	return native
}

// kindOf is the family of a program by its name, as monitor.ProgramName gives
// it.
func kindOf(name string) family {
	switch name {
	case "node", "nodejs", "bun", "deno":
		return node
	case "java", "javaw":
		return java
	case "docker", "podman", "nerdctl", "finch", "com.docker.cli":
		return container
	case "py", "pyw":
		return python
	}
	for _, p := range []string{"pythonw", "python", "pypy"} {
		if v, ok := strings.CutPrefix(name, p); ok && strings.Trim(strings.TrimSuffix(v, "t"), "0123456789.") == "" {
			return python
		}
	}
	for _, p := range []string{"nodejs", "node"} {
		if v, ok := strings.CutPrefix(name, p); ok && strings.Trim(v, "-0123456789.") == "" {
			return node
		}
	}
	if slices.Contains(notServers, name) {
		return other
	}
	return native
}

// parse tells what a process runs. It is false when that cannot be a server:
// the executable is unreadable or says something else than the arguments, the
// code comes from the command line, or an option does something other than
// running it.
func parse(exe string, args []string) (command, bool) {
	args = trim(args)
	if exe == "" || len(args) == 0 {
		return command{}, false
	}
	name := monitor.ProgramName(args[0])
	f := kindOf(monitor.ProgramName(exe))
	if f == native {
		return command{family: native, exe: splitPath(exe), name: name, rest: args[1:]}, true
	}
	if f == node && len(args) == 1 && kindOf(name) != node {
		return title(args[0])
	}
	if f == other || kindOf(name) != f {
		return command{}, false
	}
	c := command{family: f}
	var what string
	var ok bool
	switch f {
	case python:
		c.flag, what, c.rest, ok = pythonScript(args[1:])
	case java:
		c.flag, what, c.rest, ok = javaMain(args[1:])
	case node:
		what, c.rest, ok = nodeScript(name, args[1:])
	case container:
		what, c.rest, ok = containerImage(args[1:])
	}
	if !ok || what == "" {
		return command{}, false
	}
	c.what = splitPath(what)
	return c, true
}

// title is a node program that has given its process another title, which is
// then all that is left of its command line.
func title(text string) (command, bool) {
	if text == "" || strings.ContainsAny(text, " /\\") {
		return command{}, false
	}
	return command{family: node, what: []string{"title:" + strings.ToLower(text)}}, true
}

// trim drops the empty arguments at the end, which a rewritten title leaves.
func trim(args []string) []string {
	for len(args) > 0 && args[len(args)-1] == "" {
		args = args[:len(args)-1]
	}
	return args
}
