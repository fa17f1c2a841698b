package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lamplighter/app/notify"
	"lamplighter/installer"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// What is remembered in the state directory of a welcome. Both go with it when
// Lamplighter is uninstalled.
const (
	welcomedFile = "welcomed"         // the user has closed it on the page
	greetedFile  = "welcome-notified" // it was told on the desktop
)

// welcome welcomes a user once after installing: with a notification at the first
// run, and on the page until it is closed there. A program that runs from where it
// was built or unpacked welcomes nobody.
type welcome struct {
	dir       string // the state directory, "" for none: then nobody is welcomed
	installed func() (installer.Installation, error)
	source    monitor.Source
	show      func(n notify.Notification, chosen func(key string)) bool // where the settings want notifications
	open      func()                                                    // the page
	log       *slog.Logger
}

// startWelcome makes the part.
func (b *background) startWelcome(open func()) *welcome {
	return &welcome{dir: b.places.StateDir, installed: b.Installer().Installed, source: b.model, show: b.announce, open: open, log: b.log}
}

// Welcome reports whether the page is to welcome the user, and how the program was
// installed, "" when it was not.
func (w *welcome) Welcome() (show bool, installed string) {
	installed = w.how()
	return installed != "" && w.first(welcomedFile), installed
}

// Dismiss has the page not do so again.
func (w *welcome) Dismiss() error { return w.mark(welcomedFile) }

// how tells how the program was installed, "" when it was not.
func (w *welcome) how() string {
	in, err := w.installed()
	if err != nil {
		w.log.Info("it cannot be told how this program was installed", "error", err)
		return ""
	}
	switch in.Kind {
	case installer.ByHand:
		return "hand"
	case installer.Package:
		return in.How
	}
	return ""
}

// first reports whether there is no such mark. One that cannot be seen counts as
// there: who is welcomed at each start is not welcome.
func (w *welcome) first(name string) bool {
	if w.dir == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return errors.Is(err, fs.ErrNotExist)
}

func (w *welcome) mark(name string) error {
	if w.dir == "" {
		return fmt.Errorf("it cannot be remembered: %w", ErrNoStateDir)
	}
	if err := statefile.Replace(filepath.Join(w.dir, name), []byte(time.Now().UTC().Format(time.RFC3339)+"\n")); err != nil {
		return fmt.Errorf("it cannot be remembered: %w", err)
	}
	return nil
}

// Serve tells a user on the desktop, once after installing, that Lamplighter runs,
// as soon as it has looked for servers.
func (w *welcome) Serve(ctx context.Context) error {
	if w.how() == "" || !w.first(greetedFile) || !w.first(welcomedFile) {
		<-ctx.Done()
		return ctx.Err()
	}
	greeted := false
	return eachSnapshot(w.source, func(s *monitor.Snapshot) {
		if !greeted {
			greeted = true
			w.greet(s)
		}
	})(ctx)
}

// keyOpen is the button that opens the page.
const keyOpen = "open"

// greet shows the notification, and remembers that. First it is remembered: what
// could not be would come again at each start.
func (w *welcome) greet(snap *monitor.Snapshot) {
	if err := w.mark(greetedFile); err != nil {
		w.log.Warn("the user is not welcomed", "error", err)
		return
	}
	w.show(notify.Notification{
		ID: "welcome", Summary: "Lamplighter is running", Body: greeting(snap),
		Actions: []notify.Action{{Key: keyOpen, Words: "Open"}},
	}, func(string) { w.open() })
}

// greeting says what is seen, and what will be ended.
func greeting(snap *monitor.Snapshot) string {
	sees := "It sees no MCP servers yet: start your assistant, and its servers appear in the tray."
	switch n := snap.Totals().Instances; {
	case n == 1:
		sees = "It sees 1 MCP server."
	case n > 1:
		sees = fmt.Sprintf("It sees %d MCP servers.", n)
	}
	rules := snap.Policy.Rules
	if len(rules) == 0 { // not known yet
		return sees
	}
	var ends []string
	for _, r := range rules {
		if words, ok := strings.CutPrefix(r.Words, "End "); ok && r.On && r.Set {
			ends = append(ends, words)
		}
	}
	if len(ends) == 0 {
		return sees + "\nIt ends none by itself."
	}
	return sees + "\nIt ends " + strings.Join(ends, " and ") + ", and nothing else by itself."
}
