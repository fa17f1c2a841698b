package cli

import (
	"cmp"
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

// setupFile is a file with entries that run the lamplighter-connect which goes, or one
// that is gone already.
type setupFile struct {
	client, path string
	entries      []string
	stuck        string // why they, or some of them, cannot be taken out, as a sentence
}

func (s *setupLeft) any() bool { return s != nil && len(s.files) > 0 }

// lookAtSetup finds the entries of clients that would run what is gone, whoever wrote
// them: those of this installation, and those that are broken already.
func (r *uninstallRun) lookAtSetup(ctx context.Context) (*setupLeft, error) {
	settings, err := r.settingsOfClients(r.connectOf())
	if err != nil {
		return nil, nil // without a home directory clients have no settings
	}
	s := &setupLeft{settings: settings, words: setupWords{home: r.Base.Home, screen: r.screen}}
	result, err := settings.Do(ctx, setup.Wanted{Undo: true, Uninstall: true, DryRun: true})
	switch {
	case err != nil && r.options.keepSetup:
		return s, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("looking for lamplighter-connect in your clients' settings: %w; add --keep-setup to leave them as they are", err)
	}
	for _, c := range result.Changes {
		f := setupFile{client: c.Client, path: c.Path, stuck: c.Problem}
		for _, e := range c.Entries {
			f.entries = append(f.entries, s.words.entry(e))
		}
		for _, e := range c.Left {
			if wouldNotStart(e) {
				f.entries, f.stuck = append(f.entries, s.words.entry(e)), e.Why
			}
		}
		if len(f.entries) > 0 || f.stuck != "" {
			s.files = append(s.files, f)
		}
	}
	return s, nil
}

// wouldNotStart reports whether an entry that undo has left alone runs a
// lamplighter-connect that goes, or that is gone.
func wouldNotStart(e setup.Entry) bool { return e.State == setup.Shared || e.State == setup.Gone }

// stuck says that not all can be taken out; nil when it can.
func (s *setupLeft) stuck() error {
	if s == nil || !slices.ContainsFunc(s.files, func(f setupFile) bool { return f.stuck != "" }) {
		return nil
	}
	return errors.New("lamplighter-connect cannot be taken out of all settings; do what is said there, or add --keep-setup to leave them as they are")
}

// text lists the files.
func (s *setupLeft) text() string {
	var b strings.Builder
	for _, f := range s.files {
		fmt.Fprintf(&b, "  %s: %s", cmp.Or(f.client, "a file that you named"), s.words.short(f.path))
		if len(f.entries) > 0 {
			b.WriteString(" (" + strings.Join(f.entries, ", ") + ")")
		}
		if f.stuck != "" {
			b.WriteString(". " + s.words.short(f.stuck))
		}
		b.WriteString("\n")
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
		if name := cmp.Or(f.client, f.path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// undo takes lamplighter-connect out of the files, and says so.
func (s *setupLeft) undo(ctx context.Context, p *program) error {
	run := &setupRun{program: p, settings: s.settings, wanted: setup.Wanted{Undo: true, Uninstall: true}, words: s.words, told: map[string]bool{}}
	run.words.options.undo = true
	return run.act(ctx)
}
