package setup

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/share"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/command"
	"lamplighter/monitor/secret"
	"lamplighter/monitor/serena"
)

// verdict is what an entry is and what becomes of it.
type verdict struct {
	Entry
	words []string // what Do writes, nil when it leaves the entry alone
	meant bool     // it is one of those that Do is for
	ours  bool     // it runs lamplighter-connect
}

// judge looks at an entry. closed says, as a sentence, why its file is not to be
// changed, "" when it may be.
func (m machine) judge(e clients.Server, w Wanted, closed string) verdict {
	v := verdict{Entry: Entry{Path: []string{}, Line: e.Line, Off: e.Off, State: Direct}}
	for _, name := range e.Path {
		v.Path = append(v.Path, monitor.Clean(name))
	}
	raw := nameOf(e)
	v.Name = monitor.Clean(raw)
	named := slices.Contains(w.Servers, raw)
	v.meant = named
	words := append([]string{e.Command}, e.Args...)
	c, ours, why := readConnection(m.goos, words)
	if why == "" && m.isLine(e) {
		why = "its whole command stands in command, which is the program alone: the words after that belong into args"
	}
	switch {
	case e.Odd != "" || why != "":
		v.State, v.ours = Odd, false
		if why == "" {
			why = e.Odd
		} else {
			v.Runs = showCommand(words)
		}
		v.Why = monitor.Sentence(monitor.Clean(why))
		v.meant = named || len(w.Servers) == 0 && strings.Contains(strings.ToLower(raw), "serena")
		return v
	case e.Command == "" && e.URL != "":
		v.State, v.Runs = Remote, showAddress(e.URL)
		if named {
			v.Why = "It connects to an address, and starts nothing that could be shared."
		}
		return v
	case e.Command == "":
		v.State, v.Why = Odd, "It has neither a command nor an address."
		return v
	}
	v.ours = ours
	if ours {
		words = c.command
		if v.State = m.stateOf(c); v.State == Gone {
			v.Broken = "is not there"
			if m.unfit != nil {
				v.Broken = cmp.Or(m.unfit(c.program), v.Broken)
			}
		}
	}
	reading := share.ReadCommand(m.goos, words)
	v.Serena, v.Alone = reading.Serena, reading.Alone
	v.Runs = showCommand(words)
	v.Missing = m.missing(words)
	// Lamplighter opens no page for those that are shared.
	v.OpensPage = reading.Serena && (reading.Page == "true" || reading.Page == "" && m.pageOpens) && (!ours || reading.Alone != "")

	v.meant = named || len(w.Servers) == 0 && (reading.Serena || ours)
	if !v.meant && len(w.Servers) == 0 {
		asItIs := "name the entry, with " + chooses(raw) + ", to have lamplighter run it as it is."
		if by := startsSerenaBy(words); by != "" {
			v.meant = true
			v.Why = "It starts Serena through " + by + ", which cannot be shared. Write the command itself, or " + asItIs
		} else if strings.EqualFold(raw, "serena") {
			v.meant = true
			v.Why = "Whether its command starts Serena is not known. If it does, write the command of Serena itself, or " + asItIs
		}
		return v
	}
	if !v.meant {
		return v
	}
	m.decide(&v, e, c, words, named, w)
	v.PageStops = v.OpensPage && v.Alone != "" && closed == "" && (v.words != nil || v.State == Shared)
	if e.List {
		closed = "Its command and its arguments are one list or object, which is not changed here. Write lamplighter-connect and connect in front of them yourself."
	}
	if closed != "" && (v.words != nil || v.Missing != "") {
		v.words, v.Why = nil, closed
	}
	if v.words == nil {
		return v
	}
	v.Becomes = showCommand(v.words)
	return v
}

// decide says what would be written for an entry that is meant.
func (m machine) decide(v *verdict, e clients.Server, c connection, words []string, named bool, w Wanted) {
	if m.connect == "" {
		return // Do says so
	}
	inner := words
	if w.NoPage {
		inner = closePage(m.goos, words)
	}
	switch {
	case v.ours:
		pageChanges := !slices.Equal(inner, words)
		c.command = inner
		socket := m.socketFor(c)
		if v.State == Shared && !pageChanges && socket == "" {
			return
		}
		v.words = c.through(m.connect, socket)
	case v.Missing != "" && !named:
		v.Why = "Its program " + v.Missing + " is not found. Install it, or correct the path; or name the entry, with " + chooses(nameOf(e)) + ", to share it all the same."
	default:
		v.words = wrap(m.connect, m.socket, inner)
	}
}

// socketFor is the socket that an entry of ours has to name and does not: "" when
// it is right as it is, or when only the client knows what it means.
func (m machine) socketFor(c connection) string {
	named, _ := c.cutSocket()
	if named == m.socket || m.unknowable(c.program) || strings.ContainsAny(named, "$%") {
		return ""
	}
	return m.socket
}

// stateOf says whose lamplighter-connect an entry runs.
func (m machine) stateOf(c connection) State {
	if m.unknowable(c.program) {
		return Shared // it is left as somebody has written it
	}
	path := m.find(c.program)
	if path == "" {
		return Gone
	}
	if m.connect == "" {
		return Other
	}
	// lamplighter runs the one that lies beside it.
	if monitor.ProgramName(c.program) == mainProgram {
		if beside := filepath.Join(filepath.Dir(path), filepath.Base(m.connect)); m.same(beside, m.connect) || m.same(path, filepath.Join(filepath.Dir(m.connect), filepath.Base(path))) {
			return Shared
		}
		return Other
	}
	if m.same(path, m.connect) {
		return Shared
	}
	return Other
}

// missing is the program of a command when it is not found, safe to show.
func (m machine) missing(words []string) string {
	_, words = cutShell(m.goos, words)
	if len(words) == 0 || m.unknowable(words[0]) || m.find(words[0]) != "" {
		return ""
	}
	return monitor.Shorten(monitor.Clean(secret.Text(words[0])), 200)
}

// unknowable reports whether only the client knows what program is meant: it puts
// values in the place of variables, and has a working directory of its own.
func (m machine) unknowable(program string) bool {
	if strings.ContainsAny(program, "$%") {
		return true
	}
	return strings.ContainsAny(program, `/\`) && !clients.IsAbsolute(m.goos, program) && !strings.HasPrefix(program, "~")
}

// isLine reports whether an entry has a line of a shell as its program, which no client
// takes apart: it starts with a program that starts others, or with Serena.
func (m machine) isLine(e clients.Server) bool {
	first, rest, found := strings.Cut(e.Command, " ")
	name := monitor.ProgramName(first)
	return found && len(e.Args) == 0 && rest != "" && (command.Is(name, command.Starter) || serena.IsProgram(name)) && m.find(e.Command) == ""
}

// startsSerenaBy is what a command starts Serena through, in words, when it does
// so in a way that nothing is known of; "" when it does not.
func startsSerenaBy(words []string) string {
	if isScript(words[0]) {
		return "a script"
	}
	name := monitor.ProgramName(words[0])
	if !command.Is(name, command.Starter|command.Container) || !slices.ContainsFunc(words[1:], mentionsSerena) {
		return ""
	}
	return name
}

// mentionsSerena reports whether a word of a command, or a line of a shell in it,
// names Serena as something to run. A directory of that name is none.
func mentionsSerena(text string) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()\"'`", r) }) {
		if word == subcommand || strings.Contains(strings.ToLower(word), "oraios/serena") {
			return true
		}
		if isScript(word) {
			return true
		}
		if strings.ContainsAny(word, `/\`) && !strings.Contains(word, "bin/") && !strings.Contains(word, `Scripts\`) {
			continue
		}
		name := monitor.ProgramName(word)
		name, _, _ = strings.Cut(name, "@")
		name, _, _ = strings.Cut(name, "==")
		if serena.IsProgram(name) || name == "serena-slim" {
			return true
		}
	}
	return false
}

// isScript reports whether a word is the path of a script that is called after
// Serena.
func isScript(word string) bool {
	name := strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
	return strings.Contains(name, "serena") && slices.Contains([]string{".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd"}, filepath.Ext(name))
}

// chooses is the command that chooses an entry by its name.
func chooses(name string) string {
	return monitor.Quoted([]string{"lamplighter", "setup", "--server", name})
}

func nameOf(e clients.Server) string {
	if len(e.Path) == 0 {
		return ""
	}
	return e.Path[len(e.Path)-1]
}
