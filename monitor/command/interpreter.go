package command

import (
	"strings"

	"lamplighter/monitor"
)

// pythonScript skips the interpreter's own options ("python --help"): -c ends
// them, and what follows is a program of its own.
func pythonScript(args []string) (flag, what string, rest []string, ok bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--check-hash-based-pycs":
			i++
		case a == "-":
			return "", "", nil, false
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-"):
			// Options may be joined, with each other and with the value of
			// the last: -um pkg, -mpkg, -Wignore.
			switch j := strings.IndexAny(a, "cmWX"); {
			case j < 0:
			case a[j] == 'c':
				return "", "", nil, false
			case a[j] == 'm' && j+1 < len(a):
				return "-m", a[j+1:], args[i+1:], true
			case a[j] == 'm' && i+1 < len(args):
				return "-m", args[i+1], args[i+2:], true
			case a[j] == 'm':
				return "", "", nil, false
			case j == len(a)-1:
				i++
			}
		default:
			return "", a, args[i+1:], true
		}
	}
	return "", "", nil, false
}

// What java runs is the main class, the module, or the archive behind -jar ("java --help").
const javaValues = `-cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules --add-exports --add-opens
	--add-reads --limit-modules --source -d --describe-module`

// nodeScript finds the script that node, bun or deno runs. For the latter two a
// name without a dot or a slash is a subcommand, or a task of the project, which they
// run in a process of its own.
func nodeScript(name string, args []string) (what string, rest []string, ok bool) {
	values, refused := nodeValues, nodeRefused
	switch name {
	case "bun":
		values, refused = bunValues, bunRefused
	case "deno":
		values, refused = denoValues, denoRefused
	}
	what, rest, ok = script(args, values, refused)
	if name != "bun" && name != "deno" {
		return what, rest, ok
	}
	if what == "run" || what == "serve" && name == "deno" {
		what, rest, ok = script(rest, values, refused)
	}
	if registry, spec, found := strings.Cut(what, ":"); found && name == "deno" && (registry == "npm" || registry == "jsr") {
		if i := strings.LastIndexByte(spec, '@'); i > 0 {
			spec = spec[:i] // @scope/name@1.2
		}
		return registry + ":" + spec, rest, ok
	}
	return what, rest, ok && strings.ContainsAny(what, `./\`)
}

const (
	// The options whose value may be an argument of its own. Any other option has it
	// behind "=", or has none.
	nodeValues = `-r --require --import --preload --loader --experimental-loader -C --conditions --env-file --env-file-if-exists --title
		--icu-data-dir --openssl-config --redirect-warnings --diagnostic-dir --dns-result-order --input-type --inspect-port --debug-port
		--max-http-header-size --report-dir --report-directory --report-filename --disable-warning --unhandled-rejections
		--stack-trace-limit --tls-cipher-list --secure-heap --snapshot-blob --watch-path --cpu-prof-dir --heap-prof-dir
		--trace-event-categories`
	bunValues  = `--cwd --config -c -d --define -l --tsconfig-override ` + nodeValues
	denoValues = `-c --config --import-map --lock --cert --location --seed -L --log-level --preload --require`

	// The options that do something else than running the script.
	nodeRefused = `-e --eval -p --print -pe -c --check -i --interactive -h --help -v --version --test --test-only --watch --run
		--prof-process --build-snapshot --completion-bash --v8-options`
	bunRefused  = `-e --eval -p --print --watch --hot -h --help -v --version --filter -F`
	denoRefused = `-h --help -V --version --watch --watch-hmr --check-only`
)

// script skips options, and is not ok with one of those that are refused.
func script(args []string, values, refused string) (what string, rest []string, ok bool) {
	at := nextWord(args, 0, values)
	for _, word := range args[:min(at, len(args))] {
		if option, _, _ := strings.Cut(word, "="); word == "-" || monitor.HasWord(refused, option) {
			return "", nil, false
		}
	}
	if at >= len(args) {
		return "", nil, false
	}
	return args[at], args[at+1:], true
}
