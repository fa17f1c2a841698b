package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/notify"
	"lamplighter/installer"
	"lamplighter/monitor"
)

// welcomed is a welcome with what the user sees.
type welcomed struct {
	*welcome

	shown  []notify.Notification
	chosen func(key string)
	opened int
}

func newWelcomed(dir string, in installer.Installation, err error) *welcomed {
	w := &welcomed{}
	w.welcome = &welcome{
		dir: dir, installed: func() (installer.Installation, error) { return in, err }, log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		open: func() { w.opened++ },
		show: func(n notify.Notification, chosen func(string)) bool {
			w.shown, w.chosen = append(w.shown, n), chosen
			return true
		},
	}
	return w
}

// aSource hands out the snapshots of a channel.
type aSource chan *monitor.Snapshot

func (s aSource) Snapshot() *monitor.Snapshot                   { return nil }
func (s aSource) Subscribe() (<-chan *monitor.Snapshot, func()) { return s, func() {} }

// serve serves the welcome with these snapshots, until it has come to rest.
func (w *welcomed) serve(t *testing.T, snaps ...*monitor.Snapshot) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		source := make(aSource, len(snaps))
		for _, s := range snaps {
			source <- s
		}
		w.source = source
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Serve(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestWelcomeComesOnce(t *testing.T) {
	dir := t.TempDir()
	byHand := installer.Installation{Kind: installer.ByHand}
	w := newWelcomed(dir, byHand, nil)
	if show, how := w.Welcome(); !show || how != "hand" {
		t.Errorf("shows %v, %q", show, how)
	}
	w.serve(t, &monitor.Snapshot{}, &monitor.Snapshot{Seq: 1, Instances: daemontest.List(make([]monitor.Instance, 2)...)})
	if len(w.shown) != 1 {
		t.Fatalf("%+v", w.shown)
	}
	if n := w.shown[0]; n.Summary != "Lamplighter is running" || n.Body != "It sees 2 MCP servers." || len(n.Actions) != 1 || n.Actions[0].Words != "Open" {
		t.Errorf("%+v", w.shown)
	}
	w.chosen(keyOpen)
	if w.opened != 1 {
		t.Errorf("opened %d times", w.opened)
	}
	again := newWelcomed(dir, byHand, nil)
	again.serve(t, &monitor.Snapshot{Seq: 1})
	if show, _ := again.Welcome(); !show || again.shown != nil {
		t.Errorf("at the next start: on the page %v, %+v", show, again.shown)
	}
	for range 2 {
		if err := again.Dismiss(); err != nil {
			t.Fatal(err)
		}
	}
	if show, how := again.Welcome(); show || how != "hand" {
		t.Errorf("closed, and shows %v, %q", show, how)
	}
	if show, _ := newWelcomed(dir, byHand, nil).Welcome(); show {
		t.Error("closed, and shown at the next start")
	}
	if info, err := os.Lstat(filepath.Join(dir, welcomedFile)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

func TestWhoIsWelcomed(t *testing.T) {
	for _, c := range []struct {
		in   installer.Installation
		err  error
		how  string
		show bool
	}{
		{installer.Installation{Kind: installer.Package, How: "deb"}, nil, "deb", true},
		{installer.Installation{Kind: installer.Package, How: "app"}, nil, "app", true},
		{installer.Installation{Kind: installer.ByHand}, nil, "hand", true},
		{installer.Installation{Kind: installer.None}, nil, "", false},
		{installer.Installation{}, errors.New("install.json cannot be read"), "", false},
	} {
		w := newWelcomed(t.TempDir(), c.in, c.err)
		if show, how := w.Welcome(); show != c.show || how != c.how {
			t.Errorf("%+v: shows %v, %q", c.in, show, how)
		}
		if !c.show {
			w.serve(t, &monitor.Snapshot{Seq: 1})
			if w.shown != nil {
				t.Errorf("%+v: %+v", c.in, w.shown)
			}
		}
	}
	nowhere := newWelcomed("", installer.Installation{Kind: installer.ByHand}, nil)
	if show, how := nowhere.Welcome(); show || how != "hand" {
		t.Errorf("without a place: shows %v, %q", show, how)
	}
	if err := nowhere.Dismiss(); !errors.Is(err, ErrNoStateDir) {
		t.Errorf("without a place: %v", err)
	}
	if nowhere.serve(t, &monitor.Snapshot{Seq: 1}); nowhere.shown != nil {
		t.Errorf("without a place: %+v", nowhere.shown)
	}
	closed := newWelcomed(t.TempDir(), installer.Installation{Kind: installer.ByHand}, nil)
	if err := closed.Dismiss(); err != nil {
		t.Fatal(err)
	}
	if closed.serve(t, &monitor.Snapshot{Seq: 1}); closed.shown != nil {
		t.Errorf("closed on the page: %+v", closed.shown)
	}
}

// What cannot be remembered would come at each start, so it does not come.
func TestWelcomeThatCannotBeRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := newWelcomed(dir, installer.Installation{Kind: installer.ByHand}, nil)
	if err := errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	w.greet(&monitor.Snapshot{Seq: 1})
	if w.shown != nil {
		t.Errorf("%+v", w.shown)
	}
	if err := w.Dismiss(); err == nil {
		t.Error("remembered nowhere")
	}
	if err := errors.Join(os.Remove(dir), os.MkdirAll(filepath.Join(dir, welcomedFile), 0o700)); err != nil { // anything by that name
		t.Fatal(err)
	}
	if show, _ := w.Welcome(); show {
		t.Error("shown, although something is there")
	}
}

func TestGreeting(t *testing.T) {
	rule := func(words string, on, set bool) monitor.PolicyRule {
		return monitor.PolicyRule{Words: words, On: on, Set: set}
	}
	orphans, idle := rule("End orphaned servers after 10 min", true, true), rule("End idle servers after 2 h", true, true)
	memory := rule("Tell of servers over 2 GB", true, true)
	for _, c := range []struct {
		servers int
		rules   []monitor.PolicyRule
		want    string
	}{
		{0, nil, "It sees no MCP servers yet: start your assistant, and its servers appear in the tray."},
		{1, []monitor.PolicyRule{orphans, memory}, "It sees 1 MCP server.\nIt ends orphaned servers after 10 min, and nothing else by itself."},
		{3, []monitor.PolicyRule{orphans, idle}, "It sees 3 MCP servers.\nIt ends orphaned servers after 10 min and idle servers after 2 h, and nothing else by itself."},
		{2, []monitor.PolicyRule{rule("End orphaned servers", false, true), rule("End idle servers", true, false), memory}, "It sees 2 MCP servers.\nIt ends none by itself."},
	} {
		snap := &monitor.Snapshot{Instances: daemontest.List(make([]monitor.Instance, c.servers)...), Policy: monitor.Policy{Rules: c.rules}}
		if got := greeting(snap); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
