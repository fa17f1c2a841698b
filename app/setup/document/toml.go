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
	var err error
	if e.servers, err = readTOML(e.text, tables); err != nil {
		return nil, err
	}
	return e, nil
}

// Bytes returns a copy.
func (e *tomlEditor) Bytes() []byte { return slices.Concat(e.mark, e.text) }

// Entries returns copies.
func (e *tomlEditor) Entries() []Entry {
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
	err := func() error {
		s, err := e.server(path)
		if err != nil {
			return err
		}
		if err := writable(command, args); err != nil {
			return err
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
		return e.edit(s, edits, command, args)
	}()
	if err != nil {
		return fmt.Errorf("%s cannot be changed: %w", entryName(path), err)
	}
	return nil
}

// Restore writes the command and the arguments of the entry at path as source
// says.
func (e *tomlEditor) Restore(path []string, source Source) error {
	err := func() error {
		s, err := e.server(path)
		if err != nil {
			return err
		}
		command, err := tomlSource(source.Command)
		if err != nil || command.kind != unstable.String {
			return errors.New("the command from before is no string")
		}
		edits := []tomlEdit{{s.members["command"].value, source.Command}}
		var words []string
		if source.HasArgs {
			args, err := tomlSource(source.Args)
			if err != nil || !args.isWords() {
				return errors.New("the args from before are no list of strings")
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
		return e.edit(s, edits, command.text, words)
	}()
	if err != nil {
		return fmt.Errorf("%s cannot be put back: %w", entryName(path), err)
	}
	return nil
}

// server returns the server at path, when its command can be edited.
func (e *tomlEditor) server(path []string) (*tomlServer, error) {
	for _, s := range e.servers {
		if !slices.Equal(s.entry.Path, path) {
			continue
		}
		if s.entry.Odd != "" {
			return nil, errors.New(s.entry.Odd)
		}
		if s.members["command"] == nil {
			return nil, errors.New("it has no command")
		}
		return s, nil
	}
	return nil, errors.New("it is not in the settings")
}

// tomlEdit replaces a part of the text.
type tomlEdit struct {
	at   span
	text string
}

// edit applies edits that do not overlap, and takes them over when the result is
// TOML in which the server has this command and all entries are otherwise as they
// were. What is no entry is not compared: no byte of it is in an edit. Reading the
// result gives the places for the next edit, and takes as long as reading the file
// did, for each edit.
func (e *tomlEditor) edit(s *tomlServer, edits []tomlEdit, command string, args []string) error {
	slices.SortStableFunc(edits, func(a, b tomlEdit) int { return a.at.start - b.at.start })
	var text []byte
	done := 0
	for _, edit := range edits {
		text = append(append(text, e.text[done:edit.at.start]...), edit.text...)
		done = edit.at.end
	}
	text = append(text, e.text[done:]...)
	servers, err := readTOML(text, e.tables)
	if err != nil {
		return fmt.Errorf("the result would not be TOML (%w); nothing was changed, please report this with the file", err)
	}
	same := len(servers) == len(e.servers)
	for i := 0; same && i < len(servers); i++ {
		want, got := e.servers[i].entry, servers[i].entry
		if e.servers[i] == s {
			want.Command, want.Args = command, args
		}
		if len(want.Args) == 0 && len(got.Args) == 0 {
			want.Args, got.Args = nil, nil
		}
		want.Line, got.Line = 0, 0
		same = reflect.DeepEqual(want, got)
	}
	if !same {
		return errors.New("the result would not say what it should; nothing was changed, please report this with the file")
	}
	e.text, e.servers = text, servers
	return nil
}
