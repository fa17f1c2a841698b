package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// Why nothing was tried.
var (
	ErrNoClient  = errors.New("no such client")
	ErrNoServer  = errors.New("no such server")
	ErrNoConnect = errors.New("lamplighter-connect is not there")
	// ErrUnfitConnect says that what lies in its place cannot be run.
	ErrUnfitConnect = errors.New("lamplighter-connect cannot be run")
	ErrBusy         = foreignfile.ErrBusy
)

// ErrOutdated says that a file is not what Wanted.Expect says.
var ErrOutdated = errors.New("it has changed since it was shown; look again")

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
		file := s.fileOf(m, p, w, rec)
		if w.File != "" && !file.Exists {
			return nil, fmt.Errorf("%s: %w", monitor.Clean(p.Path), fs.ErrNotExist)
		}
		i := slices.IndexFunc(clients, func(c Client) bool { return c.ID == p.Client })
		if i < 0 {
			i = len(clients)
			clients = append(clients, Client{ID: p.Client, Name: p.Name, Running: append([]int{}, running[p.Client]...)})
		}
		clients[i].Files = append(clients[i].Files, file)
	}
	return clients, nil
}

// fileOf is what List says of one file.
func (s *Setup) fileOf(m machine, p place, w Wanted, rec *record) File {
	f := File{Path: p.Path, Scope: p.Scope, Entries: []Entry{}}
	set, err := p.read()
	switch {
	case errors.Is(err, fs.ErrNotExist) && isGone(p.Path):
		return f
	case err != nil:
		f.Exists, f.Problem = true, problem(err)
	default:
		f.Exists = true
		for _, e := range set.entries {
			f.Entries = append(f.Entries, m.judge(e, w, p.closed(w)).Entry)
		}
		f.Note = set.note()
	}
	if rec == nil {
		return f
	}
	steps := rec.steps(targetOf(p.Path))
	if set.file != nil {
		steps = slices.Clone(steps[:happened(steps, set.file.Content)])
	}
	if len(steps) > 0 {
		f.Changed = &steps[len(steps)-1].At
	}
	for _, st := range slices.Backward(steps) {
		if clients.IsThere(st.Backup) {
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
		list = process.NewTable().Pass
	}
	all, _ := list() // with an error comes what could be read
	return clients.Running(all)
}

// problem is an error as a sentence for people.
func problem(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
