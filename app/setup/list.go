package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/app/setup/document"
	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
)

// Why nothing was tried.
var (
	ErrNoClient  = errors.New("no such client")
	ErrNoServer  = errors.New("no such server")
	ErrNoConnect = errors.New("lamplighter-connect is not there")
	ErrBusy      = foreignfile.ErrBusy
)

// ErrOutdated says that a file is not what Wanted.Expect says.
var ErrOutdated = errors.New("it has changed since it was shown; look again")

// places are the files that w is about, in the order in which clients are shown.
// The error Is ErrNoClient.
func (s *Setup) places(w Wanted) ([]place, error) {
	all := places(runtime.GOOS, s.o, s.o.Getenv)
	if w.File != "" {
		path := filepath.Clean(w.File)
		for _, p := range all {
			if filepath.Clean(p.path) == path {
				return []place{p}, nil
			}
		}
		return []place{guess("", path, User)}, nil
	}
	if w.Client == "" {
		return all, nil
	}
	var its []place
	var known []string
	for _, p := range all {
		if p.client == w.Client {
			its = append(its, p)
		}
		if !slices.Contains(known, p.client) {
			known = append(known, p.client)
		}
	}
	if its == nil {
		return nil, fmt.Errorf("%w: %q; there are %s", ErrNoClient, w.Client, strings.Join(known, ", "))
	}
	return its, nil
}

// targetOf is the file itself, behind links, also when it is not there.
func targetOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// joined are places of which no two lead to one file, as links do. What is the
// user's and a project's is the user's.
func joined(all []place) []place {
	var list []place
	at := map[string]int{}
	for _, p := range all {
		target := targetOf(p.path)
		i, ok := at[target]
		if !ok {
			at[target] = len(list)
			list = append(list, p)
			continue
		}
		both := list[i]
		if both.scope == Project && p.scope == User {
			both = p
		}
		both.tables = slices.Clone(both.tables)
		for _, table := range slices.Concat(list[i].tables, p.tables) {
			if !slices.ContainsFunc(both.tables, func(t []string) bool { return slices.Equal(t, table) }) {
				both.tables = append(both.tables, table)
			}
		}
		list[i] = both
	}
	return list
}

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

// unparsed says what is wrong with a text, and what to do.
func unparsed(p place, err error) error {
	return fmt.Errorf("%s is left as it is, because it cannot be understood: %w; correct it first", monitor.Clean(p.path), err)
}

// closed tells whether Do leaves a file alone because others may use it.
func (p place) closed(w Wanted) bool {
	return p.scope == Project && !w.Project && w.File == "" && !w.Undo
}

// List looks at the settings of all clients, of one, or at one file. Nothing is
// changed. The error says that there is no such client, or no such file.
func (s *Setup) List(ctx context.Context, w Wanted) ([]Client, error) {
	all, err := s.places(w)
	if err != nil {
		return nil, err
	}
	running := s.running()
	m := s.machine()
	rec, err := loadRecord(s.o.State)
	if err != nil {
		rec = nil // it is for Changed and Backup alone
	}
	w.Undo = false
	clients := []Client{}
	for _, p := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file := s.look(m, p, w, rec)
		if w.File != "" && !file.Exists {
			return nil, fmt.Errorf("%s: %w", monitor.Clean(p.path), fs.ErrNotExist)
		}
		i := slices.IndexFunc(clients, func(c Client) bool { return c.ID == p.client })
		if i < 0 {
			i = len(clients)
			clients = append(clients, Client{ID: p.client, Name: p.name, Running: append([]int{}, running[p.client]...)})
		}
		clients[i].Files = append(clients[i].Files, file)
	}
	return clients, nil
}

// look is what List says of one file.
func (s *Setup) look(m machine, p place, w Wanted, rec *record) File {
	f := File{Path: p.path, Scope: p.scope, Entries: []Entry{}}
	set, err := p.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f
	case err != nil:
		f.Exists, f.Problem = true, problem(err)
	default:
		f.Exists = true
		for _, e := range set.entries {
			f.Entries = append(f.Entries, m.judge(e, w, p.closed(w)).Entry)
		}
	}
	if rec == nil {
		return f
	}
	steps := rec.steps(targetOf(p.path))
	if set.file != nil {
		steps = slices.Clone(steps[:happened(steps, set.file.Content)])
	}
	if len(steps) > 0 {
		f.Changed = &steps[len(steps)-1].At
	}
	for _, st := range slices.Backward(steps) {
		if isThere(st.Backup) {
			f.Backup = st.Backup
			break
		}
	}
	return f
}

// running are the pids of clients, by their IDs.
func (s *Setup) running() map[string][]int {
	list := s.o.Programs
	if list == nil {
		list = runningPrograms
	}
	all, _ := list() // with an error comes what could be read
	return running(all)
}

// clientName is what a client is called, "" for none that is known.
func clientName(id string) string {
	for _, c := range knownClients() {
		if c.id == id {
			return c.name
		}
	}
	return ""
}

// problem is an error as a sentence for people.
func problem(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
