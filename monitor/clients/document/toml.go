package document

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlEditor edits TOML 1.0, and what the library takes of 1.1: the ranges of
// values come from the library's parser, and only bytes within the values of
// command and args are replaced.
type tomlEditor struct {
	mark    []byte // the byte order mark, which TOML does not know; empty for none
	text    []byte // what follows it
	tables  [][]string
	servers []*tomlServer
	at      map[string]*tomlServer // the first of each path, see keyOf

	// pending are edits of text that are not applied yet: reading the result takes as
	// long as reading the file did, so that it is done once for many.
	pending map[*tomlServer]tomlChange
	taken   []span // by pending edits
	wrong   error  // why they could not be; then nothing is edited any more
}

// tomlChange is a change of one server.
type tomlChange struct {
	edits   []tomlEdit
	command string // that it has then
	args    []string
}

// maxTOML is how large a file may be, in bytes. The parser keeps a hundred times
// as much of it in memory.
const maxTOML = 4 << 20

func parseTOML(text []byte, tables [][]string) (editor, error) {
	if len(text) > maxTOML {
		return nil, &SyntaxError{Line: 1, Column: 1, Text: "the file is larger than 4 MiB, which no settings in TOML are"}
	}
	rest := bytes.TrimPrefix(text, []byte("\uFEFF"))
	e := &tomlEditor{mark: bytes.Clone(text[:len(text)-len(rest)]), text: bytes.Clone(rest), tables: tables}
	// The library's word for it is one about a character.
	if at := firstNotUTF8(e.text); at >= 0 {
		return nil, wrongAt(e.text, at, notUTF8)
	}
	servers, err := readTOML(e.text, tables)
	if err != nil {
		return nil, err
	}
	e.take(e.text, servers)
	return e, nil
}

// take takes over a text that was read. There is nothing pending then.
func (e *tomlEditor) take(text []byte, servers []*tomlServer) {
	e.text, e.servers = text, servers
	e.pending, e.taken, e.at = map[*tomlServer]tomlChange{}, nil, make(map[string]*tomlServer, len(servers))
	for _, s := range servers {
		if key := Key(s.entry.Path); e.at[key] == nil {
			e.at[key] = s
		}
	}
}

// Bytes returns a copy. Where edits could not be applied it is the text from before
// them, which Source tells.
func (e *tomlEditor) Bytes() []byte {
	e.apply()
	return slices.Concat(e.mark, e.text)
}

// Entries returns copies.
func (e *tomlEditor) Entries() []Entry {
	e.apply()
	entries := make([]Entry, 0, len(e.servers))
	for _, s := range e.servers {
		entry := s.entry
		entry.Path, entry.Args = slices.Clone(entry.Path), slices.Clone(entry.Args)
		entries = append(entries, entry)
	}
	return entries
}

// Source returns how the command of the entry at path is written.
func (e *tomlEditor) Source(path []string) (Source, error) {
	s, err := e.server(path)
	if err != nil {
		return Source{}, fmt.Errorf("%s cannot be edited: %w", entryName(path), err)
	}
	source := Source{Command: s.members["command"].value.of(e.text)}
	if m := s.members["args"]; m != nil {
		source.Args, source.HasArgs = m.value.of(e.text), true
	}
	return source, nil
}

// Set changes the command and the arguments of the entry at path.
func (e *tomlEditor) Set(path []string, command string, args []string) error {
	err := e.change(path, func(s *tomlServer) (tomlChange, error) {
		if err := writable(command, args); err != nil {
			return tomlChange{}, err
		}
		var edits []tomlEdit
		if s.entry.Command != command {
			edits = append(edits, tomlEdit{s.members["command"].value, tomlString(command)})
		}
		switch m := s.members["args"]; {
		case m == nil && len(args) > 0:
			edits = append(edits, e.add(s, tomlArrayOf(args)))
		case m != nil && !slices.Equal(s.entry.Args, args):
			edits = append(edits, tomlEdit{m.value, m.list(e.text).with(args)})
		}
		return tomlChange{edits, command, slices.Clone(args)}, nil
	})
	if err != nil {
		return fmt.Errorf("%s cannot be changed: %w", entryName(path), err)
	}
	return nil
}

// Restore writes the command and the arguments of the entry at path as source
// says.
func (e *tomlEditor) Restore(path []string, source Source) error {
	err := e.change(path, func(s *tomlServer) (tomlChange, error) {
		command, err := tomlSource(source.Command)
		if err != nil || command.kind != unstable.String {
			return tomlChange{}, errors.New("the command from before is no string")
		}
		if writable(command.text, nil) != nil {
			return tomlChange{}, errOtherResult
		}
		edits := []tomlEdit{{s.members["command"].value, source.Command}}
		var words []string
		if source.HasArgs {
			args, err := tomlSource(source.Args)
			if err != nil || !args.isWords() {
				return tomlChange{}, errors.New("the args from before are no list of strings")
			}
			for _, item := range args.items {
				words = append(words, item.text)
			}
		}
		switch m := s.members["args"]; {
		case m == nil && source.HasArgs:
			edits = append(edits, e.add(s, source.Args))
		case m != nil && source.HasArgs:
			edits = append(edits, tomlEdit{m.value, source.Args})
		case m != nil:
			edits = append(edits, e.remove(m))
		}
		return tomlChange{edits, command.text, words}, nil
	})
	if err != nil {
		return fmt.Errorf("%s cannot be put back: %w", entryName(path), err)
	}
	return nil
}

// server returns the server at path, when its command can be edited. Nothing of it
// is pending.
func (e *tomlEditor) server(path []string) (*tomlServer, error) {
	s := e.at[Key(path)]
	if _, changed := e.pending[s]; changed {
		e.apply()
		s = e.at[Key(path)]
	}
	switch {
	case e.wrong != nil:
		return nil, e.wrong
	case s == nil:
		return nil, errors.New("it is not in the settings")
	case s.entry.Odd != "":
		return nil, errors.New(s.entry.Odd)
	case s.members["command"] == nil:
		return nil, errors.New("it has no command")
	}
	return s, nil
}

// tomlEdit replaces a part of the text.
type tomlEdit struct {
	at   span
	text string
}

// change notes the change of the entry at path that build makes. One that touches
// another comes after that.
func (e *tomlEditor) change(path []string, build func(s *tomlServer) (tomlChange, error)) error {
	for {
		s, err := e.server(path)
		if err != nil {
			return err
		}
		c, err := build(s)
		if err != nil {
			return err
		}
		touches := func(at span) bool {
			return slices.ContainsFunc(c.edits, func(edit tomlEdit) bool { return edit.at.start <= at.end && at.start <= edit.at.end })
		}
		if slices.ContainsFunc(e.taken, touches) {
			e.apply()
			continue
		}
		for _, edit := range c.edits {
			e.taken = append(e.taken, edit.at)
		}
		e.pending[s] = c
		return nil
	}
}

// apply applies what is pending, and takes it over when the result is TOML in which
// the servers have their commands and all entries are otherwise as they were. What
// is no entry is not compared: no byte of it is in an edit. Else the text stays.
func (e *tomlEditor) apply() {
	if len(e.pending) == 0 {
		return
	}
	var edits []tomlEdit
	for _, s := range e.servers { // in their order, for edits at one place
		edits = append(edits, e.pending[s].edits...)
	}
	text, servers, err := e.edited(edits)
	if err != nil {
		e.wrong, e.pending, e.taken = err, map[*tomlServer]tomlChange{}, nil
		return
	}
	e.take(text, servers)
}

// edited is the text with edits, and its servers.
func (e *tomlEditor) edited(edits []tomlEdit) ([]byte, []*tomlServer, error) {
	slices.SortStableFunc(edits, func(a, b tomlEdit) int { return a.at.start - b.at.start })
	var text []byte
	done := 0
	for _, edit := range edits {
		if edit.at.start < done {
			return nil, nil, errOtherResult
		}
		text = append(append(text, e.text[done:edit.at.start]...), edit.text...)
		done = edit.at.end
	}
	text = append(text, e.text[done:]...)
	servers, err := readTOML(text, e.tables)
	if err != nil {
		return nil, nil, fmt.Errorf("the result would not be TOML (%w); nothing was changed, please report this with the file", err)
	}
	same := len(servers) == len(e.servers)
	for i := 0; same && i < len(servers); i++ {
		want, got := e.servers[i].entry, servers[i].entry
		if c, changed := e.pending[e.servers[i]]; changed {
			want.Command, want.Args = c.command, c.args
		}
		if len(want.Args) == 0 && len(got.Args) == 0 {
			want.Args, got.Args = nil, nil
		}
		want.Line, got.Line = 0, 0
		same = reflect.DeepEqual(want, got)
	}
	if !same {
		return nil, nil, errOtherResult
	}
	return text, servers, nil
}

var errOtherResult = errors.New("the result would not say what it should; nothing was changed, please report this with the file")
