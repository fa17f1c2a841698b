// Package document reads and edits the settings of MCP clients without changing
// anything else in them: comments, order, formatting, line ends and a byte order
// mark stay as they are, byte for byte.
//
// json.go and toml.go tell where servers stand, and entry.go what they say. Edits
// replace the text of a command and of its arguments, alike in both formats. It works
// on bytes alone; reading and writing files is app/setup/foreignfile.
package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Format is how settings are written.
type Format string

// The formats.
const (
	JSON Format = "json" // with comments and trailing commas, as most clients take it
	TOML Format = "toml"
)

// FormatOf tells the format by the name of the file, "" for one that is not
// known.
func FormatOf(path string) Format {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonc":
		return JSON
	case ".toml":
		return TOML
	}
	return ""
}

// SyntaxError says where a text is not what its format asks for.
type SyntaxError struct {
	Line, Column int    // from 1; the column counts characters
	Text         string // a part of a sentence, safe to show
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// Key is the same for equal paths of entries only.
func Key(path []string) string { return fmt.Sprintf("%q", path) }

// Source is how the command of an entry is written in the file, to put it back.
type Source struct {
	Command string `json:"command"`  // as in the file, with its quotation marks
	Args    string `json:"args"`     // as in the file, with its brackets, line breaks and comments
	HasArgs bool   `json:"has_args"` // the entry has args at all
}

// Document is the settings of a client. It is not safe for concurrent use.
type Document struct {
	format  Format
	tables  [][]string
	mark    string // the byte order mark, which neither format knows; "" for none
	text    string // what follows it
	servers []*server
	at      map[string]*server // by Key; the first of each path

	// pending are edits of text that are not in it yet: reading the result takes as long
	// as reading the file did, so that it is done once for many.
	pending []edit
}

// edit replaces a part of the text.
type edit struct {
	at   span
	text string
}

// Parse reads settings. The tables are the paths of names below which servers
// stand, where "*" is any name: {{"mcpServers"}, {"projects", "*", "mcpServers"}};
// those that are not there, or null, are left out. The error is a *SyntaxError: for
// what the format forbids, for names that are there twice where an entry would be
// looked for or within one, and for what stands where a table would, when there is no
// other table; beside one that can be used it is left out.
func Parse(f Format, text []byte, tables [][]string) (*Document, error) {
	rest := bytes.TrimPrefix(text, []byte("\uFEFF"))
	d := &Document{format: f, tables: tables, mark: string(text[:len(text)-len(rest)]), text: string(rest)}
	if err := d.read(); err != nil {
		return nil, err
	}
	return d, nil
}

// read reads the text. There is nothing pending then.
func (d *Document) read() error {
	if at := firstNotUTF8(d.text); at >= 0 {
		return wrongAt(d.text, at, "this is not UTF-8")
	}
	f := finder{text: d.text, tables: d.tables, at: map[string]*server{}}
	var err error
	switch d.format {
	case JSON:
		err = f.readJSON()
	case TOML:
		err = f.readTOML()
	default:
		err = fmt.Errorf("settings in the format %q cannot be read", string(d.format))
	}
	if err == nil && !f.usable {
		err = f.wrong
	}
	if err != nil {
		return err
	}
	d.servers, d.at, d.pending = f.servers, f.at, nil
	return nil
}

// settle puts the pending edits into the text.
func (d *Document) settle() error {
	if len(d.pending) == 0 {
		return nil
	}
	next := Document{format: d.format, tables: d.tables, mark: d.mark, text: d.edited()}
	if err := next.read(); err != nil {
		return fmt.Errorf("the result would not be what it should (%w); please report this with the file", err)
	}
	*d = next
	return nil
}

// edited is the text with the pending edits.
func (d *Document) edited() string {
	slices.SortStableFunc(d.pending, func(a, b edit) int {
		return cmp.Or(a.at.start-b.at.start, a.at.end-b.at.end)
	})
	var b strings.Builder
	done := 0
	for _, e := range d.pending {
		b.WriteString(d.text[done:max(done, e.at.start)] + e.text)
		done = max(done, e.at.end)
	}
	return b.String() + d.text[done:]
}

// Bytes are the settings as they are now. Without a change they are those that were
// parsed.
func (d *Document) Bytes() []byte { return []byte(d.mark + d.edited()) }

// Entries returns the servers in the order of the file.
func (d *Document) Entries() []Entry {
	_ = d.settle() // else they are those from before
	entries := make([]Entry, 0, len(d.servers))
	for _, s := range d.servers {
		entries = append(entries, s.entry)
	}
	return entries
}

// Source returns how the command of the entry at path is written. The error says that
// there is no such entry, or that it is odd.
func (d *Document) Source(path []string) (Source, error) {
	s, err := d.server(path)
	if err != nil {
		return Source{}, fmt.Errorf("%s cannot be edited: %w", entryName(path), err)
	}
	return s.source(d.text), nil
}

// Set changes the command and the arguments of an entry, and nothing else. Where
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
	to := s.source(d.text)
	if command != s.entry.Command {
		to.Command = d.quote(command)
	}
	switch {
	case to.HasArgs && !slices.Equal(args, s.entry.Args):
		to.Args = d.listOf(s).with(args, d.quote)
	case !to.HasArgs && len(args) > 0:
		to.Args, to.HasArgs = list{lead: d.space(s)}.with(args, d.quote), true
	}
	d.write(s, to)
	return nil
}

// Restore writes the command and the arguments of an entry as to says. After Set
// alone it gives back the bytes from before, also where Set has added the args.
func (d *Document) Restore(path []string, to Source) error {
	s, err := d.server(path)
	if err == nil && !IsSource(d.format, to) {
		err = errors.New("what was before is no command with a list of strings")
	}
	if err != nil {
		return fmt.Errorf("%s cannot be put back: %w", entryName(path), err)
	}
	d.write(s, to)
	return nil
}

// IsSource reports whether a text can be the command of an entry.
func IsSource(f Format, s Source) bool {
	text, args := "[it]\ncommand = "+s.Command, "\nargs = "+s.Args
	if f == JSON {
		text, args = `{"it": {"command": `+s.Command, `, "args": `+s.Args
	}
	if s.HasArgs {
		text += args
	}
	if f == JSON {
		text += "}}"
	}
	d, err := Parse(f, []byte(text), [][]string{{}})
	if err != nil {
		return false
	}
	is, err := d.Source([]string{"it"})
	return err == nil && is == s && len(d.servers) == 1
}

// server returns the server at path, when its command can be edited. Nothing of it is
// pending.
func (d *Document) server(path []string) (*server, error) {
	s := d.at[Key(path)]
	if s != nil && s.changed {
		if err := d.settle(); err != nil {
			return nil, err
		}
		s = d.at[Key(path)]
	}
	switch {
	case s == nil:
		return nil, errors.New("it is not in the settings")
	case s.entry.Odd != "":
		return nil, errors.New(s.entry.Odd)
	case s.entry.Command == "":
		return nil, errors.New("it has no command")
	case s.entry.List:
		return nil, errors.New("its command is a list")
	}
	return s, nil
}

// write notes the edits that make the command of a server what to says.
func (d *Document) write(s *server, to Source) {
	d.pending = append(d.pending, edit{s.command.value, to.Command})
	switch {
	case s.args != nil && to.HasArgs:
		d.pending = append(d.pending, edit{s.args.value, to.Args})
	case s.args != nil:
		d.pending = append(d.pending, d.remove(s.args))
	case to.HasArgs:
		d.pending = append(d.pending, d.add(s, to.Args))
	}
	s.changed = true
}

// writable says why a command cannot be written, nil when it can.
func writable(command string, args []string) error {
	if command == "" {
		return errors.New("there is no command to write")
	}
	for _, word := range append([]string{command}, args...) {
		if !isWord(word) {
			return errors.New("the command to write is not UTF-8, or holds a NUL")
		}
	}
	return nil
}

// wrongAt is what is wrong at an offset of a text, in bytes. A line ends with \n.
func wrongAt(text string, offset int, says string) *SyntaxError {
	before := text[:min(offset, len(text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(line),
		Text:   says,
	}
}

// offsetOf is the offset of a place, as libraries tell it: the column counts bytes.
func offsetOf(text string, line, column int) int {
	offset := 0
	for range line - 1 {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	return offset + column - 1
}

// firstNotUTF8 is the offset of the first byte that is not UTF-8, -1 for none.
func firstNotUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}
