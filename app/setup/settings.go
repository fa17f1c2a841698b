package setup

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lamplighter/app/setup/document"
	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
)

// settings is a file of settings as it was read.
type settings struct {
	place
	file    *foreignfile.File
	doc     *document.Document
	entries []clients.Server
}

// read reads the file of a place. The error Is fs.ErrNotExist when there is none.
// With an error about its text comes the file.
func (p place) read() (settings, error) {
	file, err := foreignfile.Read(p.Path)
	if err != nil {
		return settings{}, err
	}
	if p.Format == "" {
		return settings{}, fmt.Errorf("%s: settings are read from files that end in .json, .jsonc or .toml", monitor.Clean(p.Path))
	}
	doc, err := p.parse(file.Content)
	if err != nil {
		return settings{place: p, file: file}, unparsed(p, err)
	}
	return settings{place: p, file: file, doc: doc, entries: p.servers(doc)}, nil
}

// parse reads the text of a place.
func (p place) parse(content []byte) (*document.Document, error) {
	doc, err := document.Parse(p.Format, content, p.Tables)
	if err != nil || !p.Flat || len(doc.Servers()) > 0 {
		return doc, err
	}
	if flat, err := document.Parse(p.Format, content, [][]string{{}}); err == nil {
		return flat, nil
	}
	return doc, nil
}

// servers are those of a document of the file. What a guessed "servers" has need not be
// for MCP.
func (p place) servers(doc *document.Document) []clients.Server {
	return slices.DeleteFunc(doc.Servers(), func(s clients.Server) bool {
		return p.guessed && len(s.Path) == 2 && s.Path[0] == "servers" && !s.IsServer()
	})
}

// note is what the client does with the file that nobody expects, as a sentence.
func (s settings) note() string {
	name := monitor.Clean(s.Name)
	// It gives the text to JSON.parse as it is, which refuses the mark.
	if s.Client == "claude-desktop" && bytes.HasPrefix(s.file.Content, []byte("\ufeff")) {
		return name + " does not read this file, because it begins with a byte order mark. Save it without one."
	}
	if len(s.entries) > 0 || s.guessed || s.Client == "" {
		return ""
	}
	other := guess("", s.Path, s.Scope)
	doc, err := other.parse(s.file.Content)
	if err != nil {
		return ""
	}
	for _, e := range other.servers(doc) {
		return fmt.Sprintf("%s reads none of its servers: they stand below %s, and it looks for them below %s.", name, quoted(e.Path[:len(e.Path)-1]), quoted(s.Tables[0]))
	}
	return ""
}

func quoted(table []string) string { return strconv.Quote(monitor.Clean(strings.Join(table, "."))) }

// unparsed says what is wrong with a text, and what to do.
func unparsed(p place, err error) error {
	return fmt.Errorf("%s is left as it is, because it cannot be understood: %w; correct it first", monitor.Clean(p.Path), err)
}
