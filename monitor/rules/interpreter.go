package rules

import (
	"slices"
	"strings"
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

// javaMain finds the main class, or the archive behind -jar ("java --help").
func javaMain(args []string) (flag, what string, rest []string, ok bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-jar" && i+1 < len(args):
			return "-jar", args[i+1], args[i+2:], true
		case (a == "-m" || a == "--module") && i+1 < len(args):
			return "", args[i+1], args[i+2:], true
		case slices.Contains([]string{
			"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules",
			"--add-exports", "--add-opens", "--add-reads", "--limit-modules", "--source", "-d", "--describe-module",
		}, a):
			i++
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, "@"):
		default:
			return "", a, args[i+1:], true
		}
	}
	return "", "", nil, false
}

// nodeScript finds the script that node, bun or deno runs.
func nodeScript(name string, args []string) (what string, rest []string, ok bool) {
	switch name {
	case "deno":
		return denoScript(args)
	case "bun":
		return bunScript(args)
	}
	return script(args, nodeValues, []string{
		"-e", "--eval", "-p", "--print", "-pe", "-c", "--check", "-i", "--interactive", "-h", "--help", "-v", "--version",
		"--test", "--test-only", "--watch", "--run", "--prof-process", "--build-snapshot", "--completion-bash", "--v8-options",
	})
}

// nodeValues are the options of node and bun whose value may be an argument of
// its own. Any other option has it behind "=", or has none.
var nodeValues = []string{
	"-r", "--require", "--import", "--preload", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file",
	"--env-file-if-exists", "--title", "--icu-data-dir", "--openssl-config", "--redirect-warnings", "--diagnostic-dir",
	"--dns-result-order", "--input-type", "--inspect-port", "--debug-port", "--max-http-header-size", "--report-dir",
	"--report-directory", "--report-filename", "--disable-warning", "--unhandled-rejections", "--stack-trace-limit",
	"--tls-cipher-list", "--secure-heap", "--snapshot-blob", "--watch-path", "--cpu-prof-dir", "--heap-prof-dir", "--trace-event-categories",
}

// script skips options. refused are those that do something else than running
// the script.
func script(args, values, refused []string) (what string, rest []string, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		option, _, joined := strings.Cut(a, "=")
		switch {
		case a == "--":
			if i+1 < len(args) {
				return args[i+1], args[i+2:], true
			}
		case a == "-" || slices.Contains(refused, option):
			return "", nil, false
		case strings.HasPrefix(a, "-"):
			if !joined && slices.Contains(values, a) {
				i++
			}
		default:
			return a, args[i+1:], true
		}
	}
	return "", nil, false
}

// bunScript: bun FILE, bun run FILE. A name without a dot or a slash is a
// subcommand, or a task of the project, which bun runs in a process of its own.
func bunScript(args []string) (what string, rest []string, ok bool) {
	values := append([]string{"--cwd", "--config", "-c", "-d", "--define", "-l", "--tsconfig-override"}, nodeValues...)
	refused := []string{"-e", "--eval", "-p", "--print", "--watch", "--hot", "-h", "--help", "-v", "--version", "--filter", "-F"}
	what, rest, ok = script(args, values, refused)
	if ok && what == "run" {
		what, rest, ok = script(rest, values, refused)
	}
	if !strings.ContainsAny(what, `./\`) {
		return "", nil, false
	}
	return what, rest, ok
}

// denoScript: deno run FILE, deno run npm:PACKAGE@VERSION.
func denoScript(args []string) (what string, rest []string, ok bool) {
	values := []string{"-c", "--config", "--import-map", "--lock", "--cert", "--location", "--seed", "-L", "--log-level", "--preload", "--require"}
	refused := []string{"-h", "--help", "-V", "--version", "--watch", "--watch-hmr", "--check-only"}
	what, rest, ok = script(args, values, refused)
	if ok && (what == "run" || what == "serve") {
		what, rest, ok = script(rest, values, refused)
	}
	for _, registry := range []string{"npm:", "jsr:"} {
		if name, found := strings.CutPrefix(what, registry); found {
			return registry + packageName(name), rest, ok
		}
	}
	if !strings.ContainsAny(what, `./\`) {
		return "", nil, false
	}
	return what, rest, ok
}

// packageName drops the version of a package: @scope/name@1.2 → @scope/name.
func packageName(spec string) string {
	spec = strings.TrimPrefix(spec, "/")
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		return spec[:i]
	}
	return spec
}
