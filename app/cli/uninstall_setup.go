package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lamplighter/app/api"
	"lamplighter/app/setup"
	"lamplighter/monitor"
)

// setupLeft is what of ours is in the settings of clients.
type setupLeft struct {
	settings api.Setup
	words    setupWords
	files    []setupFile
}

// setupFile is a file with entries that run the lamplighter-connect which goes.
type setupFile struct {
	client, path string
	entries      []string
}

func (s *setupLeft) any() bool { return s != nil && len(s.files) > 0 }

// lookAtSetup finds the entries of clients that would run what is gone: those of this
// installation, and those that setup has written and that are broken already.
func (r *uninstallRun) lookAtSetup(ctx context.Context) (*setupLeft, error) {
	settings, err := r.settingsOfClients(r.connectOf())
	if err != nil {
		return nil, nil // without a home directory clients have no settings
	}
	s := &setupLeft{settings: settings, words: setupWords{home: r.base.Home, screen: r.screen}}
	clients, err := settings.List(ctx, setup.Wanted{})
	if err != nil {
		return nil, err
	}
	for _, c := range clients {
		for _, f := range c.Files {
			var names []string
			for _, e := range f.Entries {
				if e.State == setup.Shared || e.State == setup.Gone && f.Changed != nil {
					names = append(names, e.Name)
				}
			}
			if len(names) > 0 {
				s.files = append(s.files, setupFile{client: c.Name, path: f.Path, entries: names})
			}
		}
	}
	return s, nil
}

// text lists the files.
func (s *setupLeft) text() string {
	var b strings.Builder
	for _, f := range s.files {
		fmt.Fprintf(&b, "  %s: %s (%s)\n", f.client, s.words.short(f.path), strings.Join(f.entries, ", "))
	}
	return b.String()
}

// errUndecided: nobody can be asked what becomes of the settings of clients.
var errUndecided = errors.New("your clients' settings run lamplighter-connect, which would be gone")

func (s *setupLeft) undecided() error {
	return fmt.Errorf("%w: %s; add --undo-setup to take it out of them, or --keep-setup to leave them", errUndecided, monitor.Clean(strings.Join(s.names(), ", ")))
}

// names are the clients, each once.
func (s *setupLeft) names() []string {
	var names []string
	for _, f := range s.files {
		if !slices.Contains(names, f.client) {
			names = append(names, f.client)
		}
	}
	return names
}

// undo takes lamplighter-connect out of the files, and says so.
func (s *setupLeft) undo(ctx context.Context, p *program) error {
	run := &setupRun{program: p, settings: s.settings, wanted: setup.Wanted{Undo: true}, words: s.words, told: map[string]bool{}}
	run.words.options.undo = true
	return run.act(ctx)
}
