package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/daemon"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// typing is typed in answer to questions, one line each.
func typing(lines ...string) io.Reader { return strings.NewReader(strings.Join(lines, "\n") + "\n") }

// shared has Codex run the lamplighter-connect that is installed.
func (m *machine) shared() {
	m.settings.result = setup.Result{Changes: []setup.Change{{
		Client: "Codex", Path: m.home(".codex", "config.toml"), Entries: []setup.Entry{{Name: "serena"}}, Left: []setup.Entry{{Name: "lost", State: setup.Odd}}, Written: true,
	}}}
}

func TestUninstallAsks(t *testing.T) {
	const setupQuestion = "Take it out of them, so that your clients start their servers themselves? [y/N] "
	for name, test := range map[string]struct {
		args   string
		typed  io.Reader // nil: nobody can be asked
		shared bool
		status int
		gone   bool
		undone bool
		said   []string // to standard error
	}{
		"yes":                     {args: "uninstall", typed: typing("y"), gone: true, said: []string{"Uninstall Lamplighter? [y/N] "}},
		"no":                      {args: "uninstall", typed: typing("n"), said: []string{"Uninstall Lamplighter? [y/N] "}},
		"nothing typed":           {args: "uninstall", typed: strings.NewReader("")},
		"yes, and yes":            {args: "uninstall", typed: typing("y", "y"), shared: true, gone: true, undone: true, said: []string{setupQuestion}},
		"yes, and no":             {args: "uninstall", typed: typing("yes", "n"), shared: true, gone: true, said: []string{setupQuestion}},
		"told beforehand":         {args: "uninstall --yes --undo-setup", typed: typing(), shared: true, gone: true, undone: true},
		"only of the settings":    {args: "uninstall --yes", typed: typing("y"), shared: true, gone: true, undone: true, said: []string{setupQuestion}},
		"nobody there":            {args: "uninstall", gone: true},
		"nobody, and it is used":  {args: "uninstall --yes", shared: true, status: statusFailed, said: []string{"Codex; add --undo-setup to take it out of them, or --keep-setup to leave them\n"}},
		"nobody, to be undone":    {args: "uninstall --undo-setup", shared: true, gone: true, undone: true},
		"nobody, to be left":      {args: "uninstall --keep-setup", shared: true, gone: true},
		"both":                    {args: "uninstall --keep-setup --undo-setup", status: statusUsage, said: []string{"either --undo-setup or --keep-setup"}},
		"force without any purge": {args: "uninstall --force", status: statusUsage, said: []string{"leave it out"}},
	} {
		m := newMachine(t)
		m.says(t, statusFine, "install", "--no-start")
		if test.shared {
			m.shared()
		}
		m.keyboard = test.typed
		out, failed := m.says(t, test.status, strings.Fields(test.args)...)
		for _, said := range test.said {
			if !strings.Contains(failed, said) {
				t.Errorf("%s: said %q, not %q", name, failed, said)
			}
		}
		if gone := !slices.Contains(m.files(t), ".local/bin/lamplighter"); gone != test.gone {
			t.Errorf("%s: gone %v, said %s%s", name, gone, out, failed)
		}
		undone := slices.ContainsFunc(m.settings.asked, func(w setup.Wanted) bool { return w.Undo && w.Uninstall && !w.DryRun })
		if undone != test.undone {
			t.Errorf("%s: asked %+v", name, m.settings.asked)
		}
		if test.shared && filepath.Dir(m.settings.options.Connect) != filepath.Dir(m.installed()) {
			t.Errorf("%s: looks for %s", name, m.settings.options.Connect)
		}
		if left := "These entries still run lamplighter-connect:\n  Codex: ~/.codex/config.toml (serena)\n"; test.gone && strings.Contains(out, left) != (test.shared && !test.undone) {
			t.Errorf("%s: said %s", name, out)
		}
	}
}

// When settings cannot be changed, nothing else is: their clients would run what is gone.
func TestUninstallWhereSettingsCannotBeChanged(t *testing.T) {
	m := newMachine(t)
	m.says(t, statusFine, "install")
	m.shared()
	m.settings.result.Changes[0] = setup.Change{Client: "Codex", Path: m.home(".codex", "config.toml"), Problem: "Line 3: a name is missing."}
	before := m.files(t)
	_, failed := m.says(t, statusFailed, "uninstall", "--yes", "--undo-setup")
	apptest.Contains(t, failed, "a name is missing", "Lamplighter is still there\n")
	if !slices.Equal(m.files(t), before) || len(m.next.quits) != 0 {
		t.Errorf("quits %v", m.next.quits)
	}
}

// No client is left with a program that is gone, whoever has written it into its
// settings; what runs another installation stays.
func TestUninstallLeavesNoClientBehind(t *testing.T) {
	m := newMachine(t)
	m.Setup = func(o setup.Options) api.Setup {
		o.Socket, o.Programs = "", func() ([]process.Info, error) { return nil, nil }
		return setup.New(o)
	}
	m.says(t, statusFine, "install", "--no-start")
	other := filepath.Join(t.TempDir(), daemon.ConnectName)
	if err := os.WriteFile(other, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	connect := filepath.Join(filepath.Dir(m.installed()), daemon.ConnectName)
	entry := func(program string) string {
		return `{"mcpServers": {"notes": {"command": "` + program + `", "args": ["connect", "--or-direct", "--", "notes-server"]}}}`
	}
	const direct = `{"mcpServers": {"notes": {"command": "notes-server", "args": []}}}`
	files := map[string][2]string{
		".claude.json":          {entry(connect), direct},
		".cursor/mcp.json":      {entry("/gone/" + daemon.ConnectName), direct},
		".gemini/settings.json": {entry(other), entry(other)},
	}
	for path, texts := range files {
		writeSettings(t, m.home(path), texts[0])
	}
	_, failed := m.says(t, statusFailed, "uninstall", "--yes")
	apptest.Contains(t, failed, "Claude Code, Cursor; add --undo-setup to take it out of them, or --keep-setup to leave them")

	// What others may use is not changed unasked, and nothing goes before it is.
	project := t.TempDir()
	t.Chdir(project)
	writeSettings(t, filepath.Join(project, ".mcp.json"), entry(connect))
	before := m.files(t)
	out, failed := m.says(t, statusFailed, "uninstall", "--dry-run", "--undo-setup")
	apptest.Contains(t, out+failed, ".mcp.json (notes). Others may use this file", "this would be refused now: lamplighter-connect cannot be taken out of all settings")
	if !slices.Equal(m.files(t), before) {
		t.Errorf("a dry run left %q", m.files(t))
	}
	out, failed = m.says(t, statusFailed, "uninstall", "--yes", "--undo-setup")
	apptest.Contains(t, out+failed, "Left alone: notes in ", "lamplighter setup --undo --project takes it out all the same", "Lamplighter is still there\n")
	if !slices.Contains(m.files(t), ".local/bin/lamplighter") {
		t.Error("it is gone")
	}

	writeSettings(t, filepath.Join(project, ".mcp.json"), direct)
	for path, texts := range files {
		writeSettings(t, m.home(path), texts[0])
	}
	out, failed = m.says(t, statusFine, "uninstall", "--yes", "--undo-setup")
	for path, texts := range files {
		if got := settingsAt(t, m.home(path)); got != texts[1] {
			t.Errorf("%s: %s, said %s%s", path, got, out, failed)
		}
	}
	if slices.Contains(m.files(t), ".local/bin/lamplighter") {
		t.Errorf("it is not gone: %s%s", out, failed)
	}
}

func TestUninstallInterrupted(t *testing.T) {
	m := newMachine(t)
	m.says(t, statusFine, "install")
	keyboard := stuck{make(chan struct{})}
	defer close(keyboard.closed)
	m.keyboard = keyboard
	before := m.files(t)
	m.err = apptest.Buffer{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- m.main(ctx, []string{"uninstall"}) }()
	apptest.Eventually(t, "the question", func() bool { return strings.Contains(m.err.String(), "[y/N]") })
	cancel()
	if status := <-ended; status != statusFailed || !slices.Equal(m.files(t), before) || len(m.next.quits) != 0 {
		t.Errorf("status %d, quits %v", status, m.next.quits)
	}
	apptest.Contains(t, m.err.String(), "uninstall: interrupted; nothing was changed")
}

// Settings stay, and with --purge nothing does.
func TestUninstallSettings(t *testing.T) {
	for args, want := range map[string][]string{"uninstall": {".config/lamplighter/config.yaml"}, "uninstall --purge": nil} {
		m := newMachine(t)
		m.says(t, statusFine, "install", "--no-start")
		settings := m.home(".config", "lamplighter", "config.yaml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700), os.WriteFile(settings, []byte("log_level: info\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		out, _ := m.says(t, statusFine, strings.Fields(args)...)
		if left := m.files(t); !slices.Equal(left, want) {
			t.Errorf("%s: left %q", args, left)
		}
		if strings.Contains(out, "Your settings stay: ~/.config/lamplighter\n") != (want != nil) {
			t.Errorf("%s: said %s", args, out)
		}
	}
}

// Without the receipt programs stay, and that is told.
func TestUninstallWithoutReceipt(t *testing.T) {
	m := newMachine(t)
	m.env["LAMPLIGHTER_STATE_DIR"] = m.home("st1")
	out, _ := m.says(t, statusFine, "install", "--no-start")
	apptest.Contains(t, out, "What starts at login does not have LAMPLIGHTER_STATE_DIR of this terminal", "~/.config/environment.d/lamplighter.conf")
	delete(m.env, "LAMPLIGHTER_STATE_DIR")
	const left = "~/.local/bin/lamplighter, ~/.local/bin/lamplighter-connect stay: no receipt of an installation that could be used lies in ~/.local/state/lamplighter. Did you install with another LAMPLIGHTER_STATE_DIR?"
	out, _ = m.says(t, statusFine, "uninstall") // start at login goes
	apptest.Contains(t, out, left)
	_, failed := m.says(t, statusFailed, "uninstall")
	apptest.Contains(t, failed, "nothing was taken away: "+left)
	m.env["LAMPLIGHTER_STATE_DIR"] = m.home("st1")
	m.says(t, statusFine, "uninstall")
	if files := m.files(t); len(files) != 0 {
		t.Errorf("left %q", files)
	}
	out, _ = m.says(t, statusFine, "install", "--no-start", "--no-login")
	if strings.Contains(out, "at login does not have") {
		t.Errorf("said %s", out)
	}
}

// A closed terminal is no death in the middle.
func TestUninstallHangup(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP) // if nobody else does, this is not the end of the test
	defer signal.Stop(caught)
	m := newMachine(t)
	m.says(t, statusFine, "install", "--no-start")
	keyboard := stuck{make(chan struct{})}
	defer close(keyboard.closed)
	m.keyboard = keyboard
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan int, 1)
	go func() { ended <- m.main(ctx, []string{"uninstall"}) }()
	apptest.Eventually(t, "the question", func() bool { return strings.Contains(m.err.String(), "[y/N]") })
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if status := <-ended; status != statusFailed || ctx.Err() != nil {
		t.Errorf("status %d, %v", status, ctx.Err())
	}
	apptest.Contains(t, m.err.String(), "uninstall: interrupted; nothing was changed")
}

func TestUninstallLinkedSettings(t *testing.T) {
	m := newMachine(t)
	m.says(t, statusFine, "install", "--no-start")
	if err := errors.Join(os.Mkdir(m.home("dotfiles"), 0o700), os.Symlink(m.home("dotfiles"), m.home(".config", "lamplighter"))); err != nil {
		t.Fatal(err)
	}
	const said = "~/.config/lamplighter is a link to ~/dotfiles: the settings there go, and the link stays.\n"
	if out, _ := m.says(t, statusFine, "uninstall", "--dry-run"); strings.Contains(out, said) {
		t.Errorf("said %s", out)
	}
	out, _ := m.says(t, statusFine, "uninstall", "--purge")
	apptest.Contains(t, out, said)
}

// Where nobody says where sockets are, that is a cause of silence.
func TestUninstallBesideASilentOneElsewhere(t *testing.T) {
	m := newMachine(t)
	lock, err := daemon.TakeLock(m.Places(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.WriteFile(lock.Path(), []byte("4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Process = func(pid int) (process.Info, error) {
		return process.Info{Identity: monitor.Identity{PID: pid, Start: 7}, Exe: m.installed()}, nil
	}
	_, failed := m.says(t, statusFailed, "uninstall")
	apptest.Contains(t, failed, "lamplighter runs (pid 4711) and does not answer; end that process")
	m.Base.RuntimeDir = ""
	_, failed = m.says(t, statusFailed, "uninstall")
	apptest.Contains(t, failed, "XDG_RUNTIME_DIR is not set here")
}
