package setup

import (
	"fmt"

	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
	"lamplighter/monitor/clients/document"
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
	file, err := foreignfile.Read(p.Path)
	if err != nil {
		return settings{}, err
	}
	if p.Format == "" {
		return settings{}, fmt.Errorf("%s: settings are read from files that end in .json, .jsonc or .toml", monitor.Clean(p.Path))
	}
	doc, err := p.Parse(file.Content)
	if err != nil {
		return settings{place: p, file: file}, unparsed(p, err)
	}
	return settings{place: p, file: file, doc: doc, entries: p.Entries(doc)}, nil
}

// unparsed says what is wrong with a text, and what to do.
func unparsed(p place, err error) error {
	return fmt.Errorf("%s is left as it is, because it cannot be understood: %w; correct it first", monitor.Clean(p.Path), err)
}
