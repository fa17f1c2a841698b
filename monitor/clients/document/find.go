package document

import "strings"

// span is a part of a text, from start up to end.
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// server is a server as it stands in the text.
type server struct {
	entry         Entry
	command, args *member // nil for none
	changed       bool    // by edits that are pending
}

// member is the name of a server's command or args, with its value.
type member struct {
	key   span // all of it, with the names before it that TOML parts with dots
	last  span // its own name
	value span
	items []span // the elements, when it is a list

	// braces tells that it stands between braces, where commas part what is there.
	// before and after are where its neighbours end and begin, -1 for none.
	braces        bool
	before, after int
}

func (s *server) source(text string) Source {
	source := Source{Command: s.command.value.of(text)}
	if s.args != nil {
		source.Args, source.HasArgs = s.args.value.of(text), true
	}
	return source
}

// set notes where a member stands.
func (s *server) set(name string, m *member) {
	switch name {
	case "command":
		s.command = m
	case "args":
		s.args = m
	}
}

// finder looks for the servers of a text.
type finder struct {
	text    string
	tables  [][]string
	servers []*server          // in the order of the text
	at      map[string]*server // by Key
	usable  bool               // there is a table of servers
	wrong   error              // what there is instead of one, the first in the text

	lines, counted int // line ends before the offset counted
}

// place is what a name is to the tables.
type place int

const (
	elsewhere place = iota
	onTheWay        // to a table
	isTable
	isServer
	isMember // of a server
)

// placeOf tells what stands at a path, and whether a table has its last name: it may be
// "*" there.
func (f *finder) placeOf(path []string) (is place, named bool) {
	for _, table := range f.tables {
		n := min(len(path), len(table))
		matches := len(path) <= len(table)+2
		for i := range n {
			matches = matches && (table[i] == "*" || table[i] == path[i])
		}
		if !matches {
			continue
		}
		if is == elsewhere {
			is = max(onTheWay, isTable+place(len(path)-len(table)))
		}
		named = named || n == len(path) && table[n-1] != "*"
	}
	return is, named
}

// see notes what stands at a path, of which the offsets ascend: a server, or what
// should be a table and has no names below it.
func (f *finder) see(path []string, is place, named, hasNames bool, offset int) *server {
	switch {
	case is == isServer:
		s := f.at[Key(path)]
		if s == nil {
			f.lines += strings.Count(f.text[f.counted:offset], "\n")
			f.counted = offset
			s = &server{entry: Entry{Path: path, Line: f.lines + 1}}
			f.servers = append(f.servers, s)
			f.at[Key(path)] = s
		}
		return s
	case is == isTable && hasNames:
		f.usable = true
	case (is == isTable || is == onTheWay) && !hasNames && named && f.wrong == nil:
		f.wrong = wrongAt(f.text, offset, quoted(path[len(path)-1])+" is no object or table")
	}
	return nil
}

// say takes over what the decoded value of a server says.
func (s *server) say(value any) {
	path, line := s.entry.Path, s.entry.Line
	s.entry = entryOf(value)
	s.entry.Path, s.entry.Line = path, line
}

// quoted is a name of the file, safe to show.
func quoted(name string) string { return `"` + shown(name, 60) + `"` }
