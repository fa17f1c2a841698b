package setup

import (
	"fmt"
	"slices"

	"lamplighter/app/setup/document"
	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
)

// settings is a file of settings as it was read.
type settings struct {
	place
	file    *foreignfile.File
	doc     *document.Document
	entries []document.Entry
}

// read reads the file of a place. The error Is fs.ErrNotExist when there is none.
// With an error about its text comes the file.
func (p place) read() (settings, error) {
	file, err := foreignfile.Read(p.path)
	if err != nil {
		return settings{}, err
	}
	if p.format == "" {
		return settings{}, fmt.Errorf("%s: settings are read from files that end in .json, .jsonc or .toml", monitor.Clean(p.path))
	}
	doc, err := document.Parse(p.format, file.Content, p.tables)
	if err != nil {
		return settings{place: p, file: file}, unparsed(p, err)
	}
	return settings{place: p, file: file, doc: doc, entries: p.entries(doc)}, nil
}

// entries are those of a document of its file. What a guessed "servers" has need
// not be for MCP.
func (p place) entries(doc *document.Document) []document.Entry {
	all := doc.Entries()
	if !p.guessed {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(e document.Entry) bool {
		return len(e.Path) == 2 && e.Path[0] == "servers" && !e.IsServer()
	})
}

// unparsed says what is wrong with a text, and what to do.
func unparsed(p place, err error) error {
	return fmt.Errorf("%s is left as it is, because it cannot be understood: %w; correct it first", monitor.Clean(p.path), err)
}
