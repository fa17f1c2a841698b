package command

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// The options of "docker run", from its --help and the manual of podman-run: all that
// are not here have a value.
const (
	runBooleans = `--disable-content-trust --init --no-healthcheck --oom-kill-disable --privileged
		--publish-all --quiet --read-only --rm --sig-proxy --use-api-socket --env-host --http-proxy --no-hosts --no-hostname --passwd
		--read-only-tmpfs --replace --rmi --tls-verify --unsetenv-all`
	// With these it is no server over standard input.
	runRefused = `--detach --tty --entrypoint --help`
)

// containerImage finds the image that "docker run -i" serves from, without its
// tag. A container that runs detached, on a terminal, without -i or with another
// entry point is no server over standard input. named gets each option that is
// written out and has a value; it may be nil.
func containerImage(args []string, named func(option, value string)) (image string, rest []string, ok bool) {
	args = skipGlobal(args)
	if len(args) > 0 && args[0] == "container" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] != "run" {
		return "", nil, false
	}
	interactive := false
	for i := 1; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case name == "--" && i+1 < len(args):
			return repository(args[i+1]), args[i+2:], interactive
		case !strings.HasPrefix(name, "-"):
			return repository(args[i]), args[i+1:], interactive
		case name == "--interactive":
			interactive = value != "false" && value != "0"
		case monitor.HasWord(runRefused, name):
			return "", nil, false
		case monitor.HasWord(runBooleans, name):
		case strings.HasPrefix(name, "--"):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			if named != nil {
				named(name, value)
			}
		default: // joined letters: -i, -ip 80:80, -eNAME=value
			letters := args[i][1:]
			last := strings.IndexAny(letters, "acehlmpuvw") // has a value: what follows, or the next word
			if last >= 0 && last == len(letters)-1 {
				i++
			}
			if last >= 0 {
				letters = letters[:last]
			}
			if strings.Trim(letters, "iqP") != "" {
				return "", nil, false
			}
			interactive = interactive || strings.Contains(letters, "i")
		}
	}
	return "", nil, false
}

// pluginCommand: "docker mcp gateway run" starts the plugin of that name with the same
// arguments and waits for it. It is nil for any other command of docker.
func pluginCommand(name string, words []string) []string {
	rest := skipGlobal(words[1:])
	if len(rest) < 3 || !slices.Equal(rest[:3], []string{"mcp", "gateway", "run"}) {
		return nil
	}
	return append([]string{name + "-mcp"}, rest...)
}

// skipGlobal skips the options before the subcommand; nil when what follows them is
// nothing that starts a container.
func skipGlobal(args []string) []string {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return args
	}
	at := slices.IndexFunc(args, func(word string) bool { return monitor.HasWord("run exec start container compose mcp", word) })
	if at < 0 {
		return nil
	}
	return args[at:]
}

// repository is an image without tag, digest and what everybody leaves out:
// docker.io/mcp/fetch:latest → mcp/fetch.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	for _, prefix := range []string{"docker.io/", "index.docker.io/", "registry-1.docker.io/", "library/"} {
		image = strings.TrimPrefix(image, prefix)
	}
	return image
}
