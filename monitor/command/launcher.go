package command

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// launchers are the programs that run the one command behind their own options.
// verbs are the subcommands that do so; without them the program does nothing else.
// values are the options whose value may be a word of its own: the value of one that
// is missing is taken for the command.
var launchers = []struct{ names, verbs, values string }{
	{"npx npx-cli pnpx pnx bunx", "", nodeToolValues},
	{"npm npm-cli", "exec x", nodeToolValues},
	{"pnpm pn yarn yarnpkg", "dlx exec", nodeToolValues},
	{"bun deno", "x", nodeToolValues},
	{"uvx", "", pythonToolValues},
	{"uv", "tool-run tool-uvx run", pythonToolValues},
	{"pipx", "run", pythonToolValues},
	{"poetry", "run", "--directory --project -C -P"},
	{"op doppler", "run", "--config --env-file --account"},
	{"mise fnm", "exec x", "-C --env-file --log-level"},
	{"nohup setsid", "", ""},
	{"env", "", "-u --unset -C --chdir -S --split-string"},
	{"nice", "", "-n --adjustment"},
	{"ionice", "", "-c --class -n --classdata -p --pid"},
	{"stdbuf", "", "-i --input -o --output -e --error"},
	{"timeout", "", "-k --kill-after -s --signal"},
}

const (
	nodeToolValues = `-p --package --prefix --dir --cwd -C --registry --userconfig --cache --cache-dir --loglevel --config --config-file --env-file
		--color`
	// Source: --help of uv 0.13.8 and of pipx 1.18.4, and what uv takes besides.
	pythonToolValues = `--allow-insecure-host --backend --build-constraint --build-constraints --cache-dir --color --config-file --config-setting
		--config-settings --config-settings-package --constraint --constraints --cooldown --default-index --directory --env-file
		--exclude-newer --exclude-newer-package --extra --extra-index-url --fetch-python --find-links --fork-strategy --from --group --index
		--index-strategy --index-url --keyring-provider --link-mode --no-binary-package --no-build-isolation-package --no-build-package
		--no-editable-package --no-extra --no-group --no-sources-package --only-group --override --overrides --package --pip-args
		--prerelease --prerelease-package --preview-features --project --python --python-args --python-fetch --python-platform
		--python-preference --refresh-package --reinstall-package --resolution --spec --torch-backend --trusted-host --upgrade-group
		--upgrade-package --with --with-editable --with-requirements -C -P -b -c -f -i -p -w`
)

// unwrapped is a command line without its outermost launcher.
type unwrapped struct {
	outer   []string // the launcher's own words
	inner   []string // the command that it runs; empty when the program runs none
	fetched string   // the package from which that comes; "" for what is installed, or lies in a project
}

func unwrap(name string, words []string) unwrapped {
	if shell := shellNamed(name); shell != 0 {
		return unwrapped{outer: words, inner: shellCommand(shell, words)}
	}
	if name == connectProgram {
		command := keptCommand(words)
		return unwrapped{outer: words[:len(words)-len(command)], inner: command}
	}
	switch RuntimeOf(name) {
	case Container:
		return unwrapped{outer: words, inner: pluginCommand(name, words)}
	case Python, Node:
		// Such as node npx-cli.js, python -m pipx.
		c := read(name, "", words)
		if before := len(words) - len(c.Args) - 1; c.Script != "" && name != "bun" && name != "deno" {
			u := findCommand(monitor.ProgramName(c.Script), words[before:])
			u.outer = words[:before+len(u.outer)]
			return u
		}
	}
	return findCommand(name, words)
}

// findCommand finds the command of one of the launchers.
func findCommand(name string, words []string) (u unwrapped) {
	if strings.HasPrefix(name, "yarn-") { // a release in the project's own directory
		name = "yarn"
	}
	i := slices.IndexFunc(launchers, func(l struct{ names, verbs, values string }) bool { return monitor.HasWord(l.names, name) })
	if i < 0 {
		return unwrapped{}
	}
	l := launchers[i]
	at, verb := 1, ""
	if l.verbs != "" {
		for verb == "" || verb == "tool-" {
			if at = nextWord(words, at, l.values); at >= len(words) || words[at] == "" {
				return unwrapped{}
			}
			if verb += words[at]; verb == "tool" {
				verb = "tool-"
			}
			at++
		}
		if !monitor.HasWord(l.verbs, verb) {
			return unwrapped{}
		}
	}
	at = nextWord(words, at, l.values)
	switch name {
	case "op", "doppler", "mise": // before it may be what to run it with
		if i := slices.Index(words, "--"); i > 0 {
			at = i + 1
		}
	case "env":
		for at < len(words) && isAssignment(words[at]) {
			at++
		}
	case "timeout": // how long
		at++
	}
	if at >= len(words) || words[at] == "" || words[at][0] == '-' {
		return unwrapped{}
	}
	u.outer, u.inner = words[:at], words[at:]
	options := words[1:at]
	switch l.values {
	case nodeToolValues:
		u.fetched = cmp.Or(lastValue(options, "-p", "--package"), u.inner[0])
	case pythonToolValues:
		has := func(names string) bool {
			return slices.ContainsFunc(options, func(option string) bool { return monitor.HasWord(names, option) })
		}
		switch {
		case verb == "run" && name == "uv" && has("-m --module"):
			u.inner = append([]string{"python", "-m"}, u.inner...)
		case verb == "run" && (strings.HasSuffix(u.inner[0], ".py") || has("-s --script --gui-script --path")):
			u.inner = append([]string{"python"}, u.inner...)
		case verb != "run" || name != "uv":
			u.fetched = cmp.Or(lastValue(options, "--from", "--spec"), u.inner[0])
		}
	}
	return u
}

// nextWord is the index of the first word, from at on, that is neither an option
// nor the value of one; at least len(words) when there is none.
func nextWord(words []string, at int, values string) int {
	for ; at < len(words); at++ {
		switch word := words[at]; {
		case word == "--":
			return at + 1
		case monitor.HasWord(values, word):
			at++
		case !strings.HasPrefix(word, "-"):
			return at
		}
	}
	return at
}

// lastValue is the value of the last of these options.
func lastValue(words []string, options ...string) (value string) {
	for i, word := range words {
		option, joined, isJoined := strings.Cut(word, "=")
		switch {
		case !slices.Contains(options, option):
		case isJoined:
			value = joined
		case i+1 < len(words):
			value = words[i+1]
		}
	}
	return value
}
