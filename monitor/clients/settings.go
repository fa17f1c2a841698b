package clients

import (
	"context"
	"os"
	"sync"
	"time"

	"lamplighter/monitor"
)

// Settings are what the settings of all clients say. They are read when somebody asks
// for what may be new, and only files that have changed. A Settings is safe for
// concurrent use; make one with NewSettings.
type Settings struct {
	goos, home string
	getenv     func(string) string
	asked      monitor.Bell

	mu   sync.Mutex
	dirs map[string]project // in which somebody works

	looking sync.Mutex // held while files are read
	files   map[string]file
}

// project is what is known of a directory in which somebody works.
type project struct {
	asked   bool      // its settings are to be read
	read    time.Time // when that began last; zero: never
	entries []Entry   // that count there
}

// file is a file of settings as it was read.
type file struct {
	info    os.FileInfo
	entries []Entry
}

// maxProjects bounds the directories whose settings are kept. Beyond it those of children that
// are unsure would be read again and again.
const maxProjects = 512

// lookPause is the least time between two looks: a client that starts writes its own
// settings several times.
const lookPause = 500 * time.Millisecond

// NewSettings returns the settings of the clients of a user with this home and
// environment, on a system as runtime.GOOS names it. Nothing is read yet.
func NewSettings(goos, home string, getenv func(string) string) *Settings {
	return &Settings{goos: goos, home: home, getenv: getenv, asked: monitor.NewBell(), dirs: map[string]project{}, files: map[string]file{}}
}

// Entries are those that count for somebody who works in dir, "" for nowhere, as they
// were read last, and whether that was after since. If it was not, they are asked for:
// Serve reads them.
func (s *Settings) Entries(dir string, since time.Time) (list []Entry, current bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, known := s.dirs[dir]
	if p.read.After(since) {
		return p.entries, true
	}
	if !known && len(s.dirs) >= maxProjects {
		clear(s.dirs) // each is asked for again
	}
	p.asked = true
	s.dirs[dir] = p
	s.asked.Ring()
	return p.entries, false
}

// Serve reads what was asked for, and calls changed each time, until ctx ends.
func (s *Settings) Serve(ctx context.Context, changed func()) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.asked:
		}
		s.Look()
		changed()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookPause):
		}
	}
}

// Look reads now what was asked for. A file that has not changed is not read again.
func (s *Settings) Look() {
	s.looking.Lock()
	defer s.looking.Unlock()
	s.mu.Lock()
	var dirs []string
	for dir, p := range s.dirs {
		if p.asked {
			p.asked = false
			s.dirs[dir], dirs = p, append(dirs, dir)
		}
	}
	s.mu.Unlock()
	for _, dir := range dirs {
		now := project{read: time.Now()}
		for _, place := range Places(s.goos, s.home, dir, s.getenv) {
			for _, e := range s.read(place) {
				if e.In(dir) {
					now.entries = append(now.entries, e)
				}
			}
		}
		s.mu.Lock()
		if before, kept := s.dirs[dir]; kept {
			now.asked = before.asked // meanwhile
			s.dirs[dir] = now
		}
		s.mu.Unlock()
	}
}

// read are the entries of a file, which is read unless it is the one that was read
// before.
func (s *Settings) read(p Place) []Entry {
	info, err := os.Stat(p.Path)
	if err != nil {
		delete(s.files, p.Path)
		return nil
	}
	if was, known := s.files[p.Path]; known && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) {
		return was.entries
	}
	f := file{info, p.entries()}
	s.files[p.Path] = f
	return f.entries
}
