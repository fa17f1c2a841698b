// Package document reads and edits the settings of MCP clients without changing
// anything else in them: comments, order, formatting, line ends and a byte order
// mark stay as they are, byte for byte.
//
// It works on bytes alone; reading and writing files is app/setup/foreignfile.
package document

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// Entry is one MCP server of the settings.
type Entry struct {
	Path    []string // of names from the root, the last is the server's: mcpServers, serena
	Line    int      // where it begins, from 1
	Command string
	Args    []string
	List    bool   // command and args are one list, as OpenCode writes them, or one object, as Zed once did, which is read and not edited
	Dir     string // in which it is started, "" for the client's
	URL     string // of a server that is not started
	Off     bool   // the client is told not to use it

	// Odd says why it can be neither understood nor edited, as a part of a
	// sentence that is safe to show: "its args are no list of strings". Then
	// Command and Args are empty.
	Odd string
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
type Document struct{ editor }

// editor is what each format does.
type editor interface {
	// Entries returns the servers in the order of the file.
	Entries() []Entry
	// Source returns how the command of the entry at path is written. The error
	// says that there is no such entry, or that it is odd.
	Source(path []string) (Source, error)
	// Set changes the command and the arguments of an entry, and nothing else. Where
	// there are no args they come right behind the command, in the style of the
	// entry. After an error nothing has changed. That the result would not be what it
	// should may also be the error of a later call, for this entry or another; then
	// Bytes are those from before, and nothing can be edited any more.
	Set(path []string, command string, args []string) error
	// Restore writes the command and the arguments of an entry as s says. After Set
	// alone it gives back the bytes from before, also where Set has added the args.
	Restore(path []string, s Source) error
	// Bytes are the settings as they are now. Without a change they are those that
	// were parsed.
	Bytes() []byte
}

// Parse reads settings. The tables are the paths of names below which servers
// stand, where "*" is any name: {{"mcpServers"}, {"projects", "*", "mcpServers"}};
// those that are not there, or null, are left out. A table may not stand below an
// entry of another one. The error is a *SyntaxError: for what the format forbids,
// for names that are there twice where an entry would be looked for or within one,
// and for what stands where a table would, when there is no other table; beside
// one that can be used it is left out.
func Parse(f Format, text []byte, tables [][]string) (*Document, error) {
	if within(tables) {
		return nil, fmt.Errorf("servers cannot be looked for below %q: one is below another", tables)
	}
	var e editor
	var err error
	switch f {
	case JSON:
		e, err = parseJSON(text, tables)
	case TOML:
		e, err = parseTOML(text, tables)
	default:
		return nil, fmt.Errorf("settings in the format %q cannot be read", string(f))
	}
	if err != nil {
		return nil, err
	}
	return &Document{e}, nil
}

// within reports whether a table may be found below an entry of another one. Edits of
// such an entry would move what was found.
func within(tables [][]string) bool {
	for _, outer := range tables {
		for _, inner := range tables {
			if len(inner) > len(outer) && slices.EqualFunc(outer, inner[:len(outer)], func(a, b string) bool {
				return a == b || a == "*" || b == "*"
			}) {
				return true
			}
		}
	}
	return false
}
