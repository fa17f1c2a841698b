package command

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter/monitor"
)

type launcher struct{ names, verbs, values string }

// launchers are the programs that run the one command behind their own options.
// verbs are the subcommands that do so; without them the program does nothing else.
// values are the options whose value may be a word of its own: the value of one that
// is missing is taken for the command.
var launchers = []launcher{
	{"npx npx-cli pnpx pnx bunx", "", nodeToolValues},
	{"npm npm-cli", "exec x", nodeToolValues},
	{"pnpm pn yarn yarnpkg", "dlx exec", nodeToolValues},
	{"bun deno", "x", nodeToolValues},
	{"uvx", "", pythonToolValues},
	{"uv", "run tool", pythonToolValues},
	{"uv/tool", "run uvx", pythonToolValues}, // what stands behind tool
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

// unwrap takes the outermost launcher off a command line: outer are its own words, inner
// is the command that it runs, empty when the program runs none, and fetched the package
// from which that comes, "" for what is installed, or lies in a project.
func unwrap(name string, words []string) (outer, inner []string, fetched string) {
	switch {
	case shellNamed(name) != 0:
		return words, shellCommand(shellNamed(name), words), ""
	case name == connectProgram:
		inner = keptCommand(words)
		return words[:len(words)-len(inner)], inner, ""
	case RuntimeOf(name) == Container:
		return words, pluginCommand(name, words), ""
	case RuntimeOf(name)&(Python|Node) != 0 && name != "bun" && name != "deno":
		// Such as node npx-cli.js, python -m pipx.
		if c := read(name, "", words); c.Script != "" {
			return findBehind(len(words)-len(c.Args)-1, monitor.ProgramName(c.Script), words)
		}
	}
	return findCommand(name, words)
}

// findBehind is findCommand for a launcher that stands at a place in the words.
func findBehind(at int, name string, words []string) (outer, inner []string, fetched string) {
	outer, inner, fetched = findCommand(name, words[at:])
	return words[:at+len(outer)], inner, fetched
}

// findCommand finds the command of one of the launchers.
func findCommand(name string, words []string) (outer, inner []string, fetched string) {
	if strings.HasPrefix(name, "yarn-") { // a release in the project's own directory
		name = "yarn"
	}
	i := slices.IndexFunc(launchers, func(l launcher) bool { return monitor.HasWord(l.names, name) })
	if i < 0 {
		return nil, nil, ""
	}
	l := launchers[i]
	at := nextWord(words, 1, l.values)
	if l.verbs != "" {
		if at >= len(words) || !monitor.HasWord(l.verbs, words[at]) {
			return nil, nil, ""
		}
		if words[at] == "tool" {
			return findBehind(at, "uv/tool", words)
		}
		at = nextWord(words, at+1, l.values)
	}
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
		return nil, nil, ""
	}
	outer, inner = words[:at], words[at:]
	options := words[1:at]
	has := func(names string) bool {
		return slices.ContainsFunc(options, func(option string) bool { return monitor.HasWord(names, option) })
	}
	switch {
	case l.values == nodeToolValues:
		fetched = cmp.Or(lastValue(options, "-p", "--package"), inner[0])
	case l.values != pythonToolValues:
	case name == "uv" && has("-m --module"):
		inner = append([]string{"python", "-m"}, inner...)
	case name != "uvx" && name != "uv/tool" && (strings.HasSuffix(inner[0], ".py") || has("-s --script --gui-script --path")):
		inner = append([]string{"python"}, inner...)
	case name != "uv":
		fetched = cmp.Or(lastValue(options, "--from", "--spec"), inner[0])
	}
	return outer, inner, fetched
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
