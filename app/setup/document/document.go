// Package document edits the settings of MCP clients without changing anything else
// in them: comments, order, formatting, line ends and a byte order mark stay as they
// are, byte for byte.
//
// What servers say is for monitor/clients to read. find.go tells where they stand,
// syntax.go what the format forbids, and edits replace the text of a command and of its
// arguments, alike in both formats. It works on bytes alone; reading and writing files
// is app/setup/foreignfile.
package document

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
)

// Key is the same for equal paths of servers only.
func Key(path []string) string { return fmt.Sprintf("%q", path) }

// Source is how the command of a server is written in the file, to put it back.
type Source struct {
	Command string `json:"command"`  // as in the file, with its quotation marks
	Args    string `json:"args"`     // as in the file, with its brackets, line breaks and comments
	HasArgs bool   `json:"has_args"` // the server has args at all
}

// Document is the settings of a client. It is not safe for concurrent use.
type Document struct {
	format  clients.Format
	mark    string // the byte order mark, which neither format knows; "" for none
	text    string // what follows it, as it was parsed
	servers []*server
	at      map[string]*server // by Key; the first of each path
}

// Parse reads settings. The tables are the paths of names below which servers stand, as
// those of clients.Place; those that are not there, or null, are left out. The error is
// a *SyntaxError but for a format that is not known: for what the format forbids, for
// names that are there twice where a server would be looked for or within one, and for
// what stands where a table would, when there is no other table; beside one that can be
// used it is left out.
func Parse(f clients.Format, content []byte, tables [][]string) (*Document, error) {
	text := strings.TrimPrefix(string(content), "\uFEFF")
	if at := firstNotUTF8(text); at >= 0 {
		return nil, errorAt(text, at, "this is not UTF-8")
	}
	found := finder{text: text, tables: tables, at: map[string]*server{}}
	var err error
	switch f {
	case clients.JSON:
		err = found.findJSON()
	case clients.TOML:
		err = found.findTOML()
	default:
		err = fmt.Errorf("settings in the format %q cannot be read", string(f))
	}
	if err != nil {
		return nil, err
	}
	if !found.usable && found.wrong != nil {
		return nil, found.wrong
	}
	for _, s := range found.servers {
		if s.command != nil {
			s.was = s.source(text)
			s.now = s.was
		}
	}
	mark := string(content[:len(content)-len(text)])
	return &Document{format: f, mark: mark, text: text, servers: found.servers, at: found.at}, nil
}

// Bytes are the settings as they are now. Without a change they are those that were
// parsed.
func (d *Document) Bytes() []byte {
	var edits []edit
	for _, s := range d.servers {
		if s.now != s.was {
			edits = append(edits, d.edits(s)...)
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(a.at.start-b.at.start, a.at.end-b.at.end)
	})
	var b strings.Builder
	b.WriteString(d.mark)
	done := 0
	for _, e := range edits {
		b.WriteString(d.text[done:max(done, e.at.start)] + e.text)
		done = max(done, e.at.end)
	}
	b.WriteString(d.text[done:])
	return []byte(b.String())
}

// Servers returns the servers in the order of the file, with the lines on which they
// stood when it was parsed.
func (d *Document) Servers() []clients.Server {
	list := make([]clients.Server, 0, len(d.servers))
	for _, s := range d.servers {
		list = append(list, s.says)
	}
	return list
}

// Source returns how the command of the server at path is written now. The error says
// that there is no such server, or that it is odd.
func (d *Document) Source(path []string) (Source, error) {
	s, err := d.server(path)
	if err != nil {
		return Source{}, fmt.Errorf("%s cannot be edited: %w", entryName(path), err)
	}
	return s.now, nil
}

// Set changes the command and the arguments of a server, and nothing else. Where
// there are no args they come right behind the command, in the style of the entry.
// After an error nothing has changed.
func (d *Document) Set(path []string, command string, args []string) error {
	s, err := d.server(path)
	if err == nil {
		err = writable(command, args)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be changed: %w", entryName(path), err)
	}
	to := s.now
	if command != s.says.Command {
		to.Command = d.quote(command)
	}
	switch {
	case to.HasArgs && !slices.Equal(args, s.says.Args):
		to.Args = d.listOf(s).with(args, d.quote)
	case !to.HasArgs && len(args) > 0:
		to.Args, to.HasArgs = list{lead: d.space(s)}.with(args, d.quote), true
	}
	if err := d.write(s, to); err != nil {
		return fmt.Errorf("%s cannot be changed: %w; please report this with the file", entryName(path), err)
	}
	return nil
}

// Restore writes the command and the arguments of a server as to says. After Set
// alone it gives back the bytes from before, also where Set has added the args.
func (d *Document) Restore(path []string, to Source) error {
	s, err := d.server(path)
	if err == nil {
		err = d.write(s, to)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be put back: %w", entryName(path), err)
	}
	return nil
}

// write makes the command of a server what to says.
func (d *Document) write(s *server, to Source) error {
	it, err := readSource(d.format, to)
	if err != nil {
		return err
	}
	s.now, s.says.Command, s.says.Args = to, it.servers[0].says.Command, it.servers[0].says.Args
	return nil
}

// IsSource reports whether a text can be the command of a server.
func IsSource(f clients.Format, s Source) bool {
	_, err := readSource(f, s)
	return err == nil
}

// readSource reads the command of a server as settings that have nothing else.
func readSource(f clients.Format, s Source) (*Document, error) {
	text, args := "[it]\ncommand = "+s.Command, "\nargs = "+s.Args
	if f == clients.JSON {
		text, args = `{"it": {"command": `+s.Command, `, "args": `+s.Args
	}
	if s.HasArgs {
		text += args
	}
	if f == clients.JSON {
		text += "}}"
	}
	d, err := Parse(f, []byte(text), [][]string{{}})
	if err == nil && len(d.servers) == 1 {
		if is, err := d.Source([]string{"it"}); err == nil && is == s {
			return d, nil
		}
	}
	return nil, errors.New("what it would be is no command with a list of strings")
}

// server returns the server at path, when its command can be edited.
func (d *Document) server(path []string) (*server, error) {
	s := d.at[Key(path)]
	switch {
	case s == nil:
		return nil, errors.New("it is not in the settings")
	case s.says.Odd != "":
		return nil, errors.New(s.says.Odd)
	case s.says.Command == "":
		return nil, errors.New("it has no command")
	case s.says.List:
		return nil, errors.New("its command is a list")
	}
	return s, nil
}

// writable says why a command cannot be written, nil when it can.
func writable(command string, args []string) error {
	if command == "" {
		return errors.New("there is no command to write")
	}
	for _, word := range append([]string{command}, args...) {
		if !clients.IsWord(word) {
			return errors.New("the command to write is not UTF-8, or holds a NUL")
		}
	}
	return nil
}

// entryName is a path as people read it.
func entryName(path []string) string {
	return "the entry " + shown(strings.Join(path, " › "), 120)
}

// shown is foreign text of any length as it can be shown.
func shown(text string, columns int) string {
	const enough = 2000 // bytes, for shortening takes its time
	return monitor.Shorten(monitor.Clean(text[:min(len(text), enough)]), columns)
}
