package share

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lamplighter/app/share/ask"
	"lamplighter/monitor"
)

// AloneMember is a client whose server cannot be shared: its shim runs that by
// itself. It is there to be shown.
type AloneMember struct {
	broker *Broker
	why    string   // never changes
	wish   ask.Wish // never changes
	// program is the name of what the wish asks for. It never changes.
	program string
	since   time.Time

	// Guarded by the broker's mu.
	client monitor.Client
	server monitor.Identity
}

// Alone takes in a client whose server cannot be shared, and why, until Leave.
func (b *Broker) Alone(client monitor.Client, why string, wish ask.Wish) *AloneMember {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &AloneMember{broker: b, client: client, why: why, wish: wish, program: programOf(wish.Command), since: b.o.Now()}
	b.alone = append(b.alone, m)
	b.rest()
	b.change()
	return m
}

// Ran says which process is the server; zero when it could not be started.
func (m *AloneMember) Ran(server monitor.Identity) {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	m.server = server
	m.broker.change()
}

// interpreters run the script that their arguments name, or get the package first;
// the value tells which of their options have a value.
var interpreters = map[string][]string{
	"node": {"-r", "--require", "--import", "--loader"}, "nodejs": {"-r", "--require", "--import", "--loader"}, "bun": nil, "deno": nil, "tsx": nil,
	"ruby": {"-r", "-I"}, "perl": {"-I"}, "php": {"-d", "-c"}, "java": {"-cp", "-classpath", "--class-path"},
	"sh": nil, "bash": nil, "zsh": nil, "dash": nil, "fish": nil,
	"npx": {"-p", "--package"}, "bunx": {"-p", "--package"}, "pnpx": nil,
	"uvx": {"--from", "--with", "--python", "-p"}, "uv": {"--directory", "--project", "--with", "--python", "-p"},
}

// pythonValues are those of every Python.
var pythonValues = []string{"-X", "-W"}

// programOf is what to call the program of a command: the script or the package of
// an interpreter, "srv.py", else the program itself, "my-server". It is safe to show.
func programOf(command []string) string {
	if len(command) == 0 {
		return ""
	}
	what, name := command[0], monitor.ProgramName(command[0])
	values, ok := interpreters[name]
	if monitor.IsPython(name) {
		values, ok = pythonValues, true
	}
	if ok {
		what = cmp.Or(scriptOf(command[1:], values), what)
	}
	if i := strings.LastIndexAny(what, `/\`); i >= 0 {
		what = what[i+1:]
	}
	return monitor.Shorten(monitor.Clean(what), programColumns)
}

// programColumns is how much of a name is of use.
const programColumns = 60

// scriptOf is what an interpreter with these arguments runs, "" when that has no
// name, such as code in an argument.
func scriptOf(args, values []string) string {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains(values, a):
			i++
		case a == "-c" || a == "-e" || a == "--eval":
			return ""
		case strings.HasPrefix(a, "-"), a == "run", a == "": // of a module or an archive the name follows
		default:
			return a
		}
	}
	return ""
}

// Leave is the end of the client. It may be called again.
func (m *AloneMember) Leave() {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alone = slices.DeleteFunc(b.alone, func(other *AloneMember) bool { return other == m })
	b.rest()
	b.change()
}
