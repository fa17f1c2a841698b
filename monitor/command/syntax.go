package command

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// syntax is how the words in front of what a program runs are read.
type syntax struct {
	names   string // of programs; "uv/tool" is what stands behind a subcommand
	runtime Trait  // of what it runs; 0 for one that runs a command. Without names, of all programs of that
	// verbs are the subcommands that run something; without one of them the program
	// does something else. "" for a program that needs none.
	verbs string
	// values are the options that have a value, behind "=" or as the next word: that of
	// one that is missing is taken for what runs.
	values   string
	booleans string // instead, the long options without a value
	letters  bool   // options of one letter may be joined: -um
	final    string // the option whose value is what runs
	refused  string // the options with which it cannot be told what runs
	from     string // the options that name the package of the command, which else names that itself
	dashes   bool   // the command stands behind "--", and in front of that may be anything
}

// syntaxes are the programs that run what their arguments name.
var syntaxes = []syntax{
	{runtime: Python, letters: true, values: "-m -W -X --check-hash-based-pycs", final: "-m", refused: "- -c"},
	// A class, or an archive behind -jar ("java --help").
	{runtime: Java, values: `-cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules --add-exports --add-opens
		--add-reads --limit-modules --source -d --describe-module`, refused: "-"},
	{names: "bun", runtime: Node, verbs: "run x", values: `--cwd --config -c -d --define -l --tsconfig-override ` + nodeValues,
		refused: "- -e --eval -p --print --watch --hot -h --help -v --version --filter -F"},
	{names: "deno", runtime: Node, verbs: "run serve x", values: `-c --config --import-map --lock --cert --location --seed -L --log-level
		--preload --require`, refused: "- -h --help -V --version --watch --watch-hmr --check-only"},
	{runtime: Node, values: nodeValues, refused: `- -e --eval -p --print -pe -c --check -i --interactive -h --help -v --version --test --test-only
		--watch --run --prof-process --build-snapshot --completion-bash --v8-options`},
	// From "docker run --help" and the manual of podman-run.
	{runtime: Container, verbs: "run", letters: true, values: "-a -c -e -h -l -m -p -u -v -w -H -n", booleans: `--interactive
		--disable-content-trust --init --no-healthcheck --oom-kill-disable --privileged --publish-all --quiet --read-only --rm --sig-proxy
		--use-api-socket --env-host --http-proxy --no-hosts --no-hostname --passwd --read-only-tmpfs --replace --rmi --tls-verify
		--unsetenv-all --detach --tty --help --debug --tls --tlsverify --remote`},

	{names: "npx npx-cli pnpx pnx bunx bun/x deno/x", values: nodeToolValues, from: "-p --package"},
	{names: "npm npm-cli", verbs: "exec x", values: nodeToolValues, from: "-p --package"},
	{names: "pnpm pn yarn yarnpkg", verbs: "dlx exec", values: nodeToolValues, from: "-p --package"},
	{names: "uvx", values: pythonToolValues, from: "--from"},
	{names: "uv", verbs: "run tool", values: pythonToolValues},
	{names: "uv/tool", verbs: "run uvx", values: pythonToolValues, from: "--from"},
	{names: "pipx", verbs: "run", values: pythonToolValues, from: "--spec"},
	{names: "poetry", verbs: "run", values: "--directory --project -C -P"},
	{names: "mise", verbs: "exec x", dashes: true},
	{names: "op doppler", verbs: "run", values: "--config --env-file --account", dashes: true},
	{names: connectProgram, verbs: "keep", dashes: true},
	{names: "timeout", values: "-k --kill-after -s --signal"},
	{names: "env", values: "-u --unset -C --chdir -S --split-string"},
}

// The options with a value that the settings of servers have, of those in --help.
const (
	nodeValues = `-r --require --import --preload --loader --experimental-loader -C --conditions --env-file --env-file-if-exists --title
		--icu-data-dir --openssl-config --dns-result-order --input-type --inspect-port --max-http-header-size --disable-warning`
	nodeToolValues   = `-p --package --prefix --dir --cwd -C --registry --userconfig --cache --cache-dir --loglevel --config --env-file`
	pythonToolValues = `--allow-insecure-host --backend --cache-dir --color --config-file --config-setting --constraint --constraints
		--default-index --directory --env-file --exclude-newer --extra --extra-index-url --find-links --from --group --index --index-strategy
		--index-url --keyring-provider --link-mode --no-extra --no-group --only-group --overrides --package --pip-args --prerelease --project
		--python --python-platform --python-preference --refresh-package --reinstall-package --resolution --spec --trusted-host
		--upgrade-package --with --with-editable --with-requirements -C -P -b -c -f -i -p -w`
)

// syntaxOf is how a program is read, nil for one that runs nothing else.
func syntaxOf(name string) *syntax {
	for i := range syntaxes {
		s := &syntaxes[i]
		if monitor.HasWord(s.names, name) || s.names == "" && s.runtime == RuntimeOf(name) {
			return s
		}
	}
	return nil
}

// options are those in front of what runs, each with its value, "" for none.
type options [][2]string

// has reports whether one of these options is given.
func (list options) has(names string) bool {
	return slices.ContainsFunc(list, func(option [2]string) bool { return monitor.HasWord(names, option[0]) })
}

// value is the value of the last of these options.
func (list options) value(names string) (value string) {
	for _, option := range list {
		if monitor.HasWord(names, option[0]) {
			value = option[1]
		}
	}
	return value
}

// options reads the options in front of some words, and returns what is behind them.
func (s *syntax) options(words []string) (given options, rest []string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		word := words[0]
		words = words[1:]
		if word == "--" {
			break
		}
		name, value, joined := strings.Cut(word, "=")
		if s.letters && len(word) > 2 && word[1] != '-' {
			at := 1
			for ; at < len(word)-1 && !s.hasValue("-"+word[at:at+1]); at++ {
				given = append(given, [2]string{"-" + word[at:at+1]})
			}
			name, value, joined = "-"+word[at:at+1], word[at+1:], at < len(word)-1
		}
		if s.hasValue(name) && !joined && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		given = append(given, [2]string{name, value})
		if monitor.HasWord(s.final, name) {
			break
		}
	}
	return given, words
}

func (s *syntax) hasValue(option string) bool {
	return monitor.HasWord(s.values, option) || s.booleans != "" && strings.HasPrefix(option, "--") && !monitor.HasWord(s.booleans, option)
}

// look reads the options of a program, and its subcommand with the options of that:
// rest is nil when the program runs nothing.
func look(name string, words []string) (s *syntax, given options, rest []string) {
	if s = syntaxOf(name); s == nil {
		return nil, nil, nil
	}
	given, rest = s.options(words[1:])
	if s.runtime == Container && len(rest) > 0 && rest[0] == "container" {
		rest = rest[1:]
	}
	switch {
	case len(rest) > 0 && monitor.HasWord(s.verbs, rest[0]):
	case s.verbs == "", s.runtime == Node: // bun and deno run a script without a subcommand, too
		return s, given, rest
	default:
		return s, given, nil
	}
	if below := syntaxOf(name + "/" + rest[0]); below != nil {
		below, more, behind := look(name+"/"+rest[0], rest)
		return below, append(given, more...), behind
	}
	rest = rest[1:]
	for s.dashes && len(rest) > 0 && rest[0] != "--" {
		rest = rest[1:]
	}
	more, behind := s.options(rest)
	return s, append(given, more...), behind
}
