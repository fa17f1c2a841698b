package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/setup"
)

// fakeSettings are settings of clients that are only talked about.
type fakeSettings struct {
	clients []setup.Client
	result  setup.Result
	err     error
	options setup.Options
	asked   []setup.Wanted // of Do
	lists   func()         // before each answer of List, nil for nothing
}

func (f *fakeSettings) List(_ context.Context, w setup.Wanted) ([]setup.Client, error) {
	if f.lists != nil {
		f.lists()
	}
	return f.clients, nil
}

func (f *fakeSettings) Do(_ context.Context, w setup.Wanted) (setup.Result, error) {
	f.asked = append(f.asked, w)
	result := f.result
	result.Page = result.Page && !w.NoPage && !w.Undo && len(w.Servers) == 0
	return result, f.err
}

// withSettings has the program talk about settings, beside a lamplighter-connect.
func (d *desktop) withSettings(t *testing.T) *fakeSettings {
	t.Helper()
	d.withConnect(t)
	d.Base.Home = t.TempDir()
	serena := setup.Entry{
		Name: "serena", Path: []string{"mcp_servers", "serena"}, State: setup.Direct, Serena: true,
		Runs: "serena start-mcp-server", Becomes: "lamplighter-connect connect --or-direct -- serena start-mcp-server",
	}
	codex := d.home(".codex", "config.toml")
	f := &fakeSettings{
		clients: []setup.Client{
			{ID: "claude-code", Name: "Claude Code", Files: []setup.File{{Path: d.home(".claude.json"), Scope: setup.User}}},
			{ID: "claude-desktop", Name: "Claude Desktop"},
			{ID: "codex", Name: "Codex", Files: []setup.File{{Path: codex, Scope: setup.User, Exists: true, Entries: []setup.Entry{serena}}}},
		},
		result: setup.Result{Changes: []setup.Change{{
			Client: "Codex", Path: codex, Entries: []setup.Entry{serena}, Backup: codex + ".lamplighter-backup", Sum: "5e1f",
			Before: []byte("command = 'serena'\n"), After: []byte("command = 'lamplighter-connect'\n"),
		}}},
	}
	d.Setup = func(o setup.Options) api.Setup { f.options = o; return f }
	return f
}

// page has Serena open its own page.
func (f *fakeSettings) page() {
	f.result.Page = true
	e := &f.clients[2].Files[0].Entries[0]
	e.OpensPage, e.PageStops, e.Alone = true, true, "its context can change the project"
}

func (d *desktop) home(parts ...string) string {
	return filepath.Join(append([]string{d.Base.Home}, parts...)...)
}

const (
	codexChanged = "Changed ~/.codex/config.toml: serena. Before: config.toml.lamplighter-backup\n"
	startIt      = "Lamplighter does not run now. Until you start it, with lamplighter run, these clients start their servers themselves.\n"
)

// slashed is text with the paths of another system written like ours.
func slashed(text string) string { return strings.ReplaceAll(text, `\`, "/") }

func TestSetupActs(t *testing.T) {
	for name, test := range map[string]struct {
		args string
		want setup.Wanted
	}{
		"all":       {"setup --yes", setup.Wanted{}},
		"a client":  {"setup codex --yes", setup.Wanted{Client: "codex"}},
		"at once":   {"setup --yes --no-page --project", setup.Wanted{NoPage: true, Project: true}},
		"entries":   {"setup codex --server serena --yes", setup.Wanted{Client: "codex", Servers: []string{"serena"}}},
		"undo":      {"setup codex --undo --yes", setup.Wanted{Client: "codex", Undo: true}},
		"undo some": {"setup --undo --project --server serena --yes", setup.Wanted{Undo: true, Project: true, Servers: []string{"serena"}}},
	} {
		d := newDesktop(t)
		f := d.withSettings(t)
		status := d.runs(t, strings.Fields(test.args)...)
		if status != statusFine || len(f.asked) != 1 {
			t.Fatalf("%s: status %d, asked %+v, said %s", name, status, f.asked, d.err.String())
		}
		got := f.asked[0]
		if got.Client != test.want.Client || !slices.Equal(got.Servers, test.want.Servers) || got.Undo != test.want.Undo || got.DryRun ||
			got.NoPage != test.want.NoPage || got.Project != test.want.Project {
			t.Errorf("%s: asked %+v", name, got)
		}
		if o := f.options; o.Home != d.Base.Home || o.State != d.Places().StateDir || o.Connect == "" || o.Dir == "" || o.Getenv == nil {
			t.Errorf("%s: options %+v", name, o)
		}
		if !test.want.Undo {
			apptest.Contains(t, slashed(d.out.String()), codexChanged)
		}
	}
}

// Another setup is done with the files after this one has seen them.
func TestSetupsAtOnce(t *testing.T) {
	d := newDesktop(t)
	f := d.withSettings(t)
	f.result = setup.Result{}
	states := []setup.State{setup.Direct, setup.Shared}
	f.lists = func() {
		entry := f.clients[2].Files[0].Entries[0]
		entry.State, states = states[0], states[1:]
		f.clients[2].Files[0].Entries = []setup.Entry{entry}
	}
	if status := d.runs(t, "setup", "--yes"); status != statusFine || d.out.String() != "Nothing to change: every Serena that was found runs through lamplighter-connect.\n" {
		t.Errorf("status %d, %q", status, d.out.String())
	}
}

// A command line that is shown can be copied.
func TestSetupAgain(t *testing.T) {
	for want, o := range map[string]setupOptions{
		"lamplighter setup codex --server x --no-page":         {client: "codex", servers: []string{"x"}},
		"lamplighter setup --project --no-page":                {project: true},
		`lamplighter setup --file "/My Work/a.json" --no-page`: {file: "/My Work/a.json"},
		`lamplighter setup --server "my \"notes\"" --no-page`:  {servers: []string{`my "notes"`}},
	} {
		if got := o.again("--no-page"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSetupFileIsAbsolute(t *testing.T) {
	d := newDesktop(t)
	f := d.withSettings(t)
	d.keyboard = strings.NewReader("n\n") // is not asked
	want, err := filepath.Abs("some.json")
	if err != nil {
		t.Fatal(err)
	}
	if status := d.runs(t, "setup", "--file", "some.json"); status != statusFine || len(f.asked) != 1 || f.asked[0].File != want {
		t.Errorf("status %d, asked %+v", status, f.asked)
	}
}

// Each is wrong usage, and changes nothing.
func TestSetupUsage(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"setup codex cursor", "setup takes one client at most"},
		{"setup --no-page=maybe", `"maybe" is not one of true, false`},
		{"setup codex --file x.json", "setup takes either a client or --file"},
		{"setup --file=", "the name behind --file is empty"},
		{"setup --server=", "the name behind --server is empty"},
		{"setup --list --undo", "--list changes nothing; leave --undo out"},
		{"setup --list --server x", "--list changes nothing; leave --server out"},
		{"setup --list --yes", "--list changes nothing; leave --yes out"},
		{"setup --undo --no-page", "--undo takes out what setup has written; leave --no-page out"},
		{"setup --dry-run --yes", "--dry-run changes nothing; leave --yes out"},
		{"setup --undoo", "unknown flag: --undoo"},
		{"setup nosuch", `there is no client "nosuch"; known are claude-code, claude-desktop, codex, and any file with --file`},
		{"setup codx", `there is no client "codx"; did you mean codex? Known are`},
		{"setup claude", `did you mean claude-code or claude-desktop?`},
		{"setup Claude_Code", `did you mean claude-code?`},
		{"setup \x1b[31mx", `there is no client "[31mx"`},
		{"setup --json", "with --json nobody is asked; add --yes"},
	} {
		d := newDesktop(t)
		f := d.withSettings(t)
		d.keyboard = strings.NewReader("y\ny\n")
		status := d.runs(t, strings.Fields(test.args)...)
		if said := d.err.String(); status != statusUsage || !strings.Contains(said, test.want) || len(f.asked) != 0 || d.out.String() != "" {
			t.Errorf("%q: status %d, said %q %q, asked %v", test.args, status, said, d.out.String(), f.asked)
		}
	}
	d := newDesktop(t)
	d.withSettings(t)
	if status := d.runs(t, "setup", ""); status != statusUsage {
		t.Errorf("an empty client: status %d", status)
	}
}

// Where nobody can be asked, nothing is changed that --yes does not say.
func TestSetupWithoutATerminal(t *testing.T) {
	for _, args := range []string{"setup", "setup codex", "setup --file x.json", "setup --server serena", "setup --undo", "setup codex --undo", "setup --json"} {
		d := newDesktop(t)
		f := d.withSettings(t)
		status := d.runs(t, strings.Fields(args)...)
		if said := d.err.String(); status != statusUsage || !strings.Contains(said, "add --yes to change the files, or --dry-run to look") || len(f.asked) != 0 || d.out.String() != "" {
			t.Errorf("%s: status %d, said %q %q, asked %v", args, status, said, d.out.String(), f.asked)
		}
	}
	for _, args := range []string{"setup --list", "setup --list --json", "setup --dry-run", "setup --undo --dry-run", "setup --dry-run --json"} {
		d := newDesktop(t)
		f := d.withSettings(t)
		if status := d.runs(t, strings.Fields(args)...); status != statusFine || d.out.String() == "" || len(f.asked) > 0 && !f.asked[0].DryRun {
			t.Errorf("%s: status %d, said %q, asked %v", args, status, d.err.String(), f.asked)
		}
	}
}

func TestSetupRefuses(t *testing.T) {
	t.Run("no entry of that name", func(t *testing.T) {
		d := newDesktop(t)
		f := d.withSettings(t)
		f.err = fmt.Errorf("%w: no settings have an entry with the name nosuch", setup.ErrNoServer)
		if status := d.runs(t, "setup", "--server", "nosuch", "--yes"); status != statusFailed {
			t.Errorf("status %d", status)
		}
		apptest.Contains(t, d.err.String(), "with the name nosuch; lamplighter setup --list shows them")
	})
	t.Run("no home", func(t *testing.T) {
		d := newDesktop(t)
		d.withSettings(t)
		d.Base.Home = ""
		if status := d.runs(t, "setup", "--yes"); status != statusFailed {
			t.Errorf("status %d", status)
		}
		apptest.Contains(t, d.err.String(), "there is no home directory")
	})
	t.Run("busy", func(t *testing.T) {
		d := newDesktop(t)
		f := d.withSettings(t)
		f.err = errors.New("another setup is at work; try again when it is done")
		if status := d.runs(t, "setup", "--yes"); status != statusFailed || strings.Contains(d.out.String(), "Changed") {
			t.Errorf("status %d", status)
		}
		apptest.Contains(t, d.err.String(), "setup: another setup is at work")
	})
	t.Run("no lamplighter-connect", func(t *testing.T) {
		for args, want := range map[string]int{"setup --yes": statusFailed, "setup --dry-run": statusFailed, "setup --list": statusFine, "setup --undo --yes": statusFine} {
			d := newDesktop(t)
			f := d.withSettings(t)
			d.Self = filepath.Join(t.TempDir(), "lamplighter")
			if status := d.runs(t, strings.Fields(args)...); status != want {
				t.Errorf("%s: status %d", args, status)
			}
			if want == statusFailed {
				apptest.Contains(t, d.err.String(), "setup: there is no ", "install both again")
			}
			if f.options.Connect != "" || want == statusFailed && len(f.asked) > 0 {
				t.Errorf("%s: %+v %v", args, f.options, f.asked)
			}
		}
	})
}

func TestSetupDryRun(t *testing.T) {
	d := newDesktop(t)
	f := d.withSettings(t)
	f.page()
	f.result.Changes[0].Backup = ""
	d.keyboard = strings.NewReader("") // is not asked
	if status := d.runs(t, "setup", "codex", "--dry-run"); status != statusFine || len(f.asked) != 1 || !f.asked[0].DryRun {
		t.Errorf("status %d, asked %+v", status, f.asked)
	}
	const want = `--- ~/.codex/config.toml
+++ ~/.codex/config.toml
@@ -1 +1 @@
-command = 'serena'
+command = 'lamplighter-connect'
Would change ~/.codex/config.toml: serena. It would be kept beside it as it is now.
Serena opens a page of its own for every server. To stop that: lamplighter setup codex --no-page
`
	if got := slashed(d.out.String()); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSetupJSON(t *testing.T) {
	d := newDesktop(t)
	f := d.withSettings(t)
	f.result.Changes[0].Problem = "it is not valid"
	f.result.Changes[0].Before = nil
	if status := d.runs(t, "setup", "--yes", "--json"); status != statusFailed {
		t.Errorf("status %d", status)
	}
	var result setup.Result
	if err := json.Unmarshal([]byte(d.out.String()), &result); err != nil || !result.Failed() {
		t.Errorf("%v %s", err, d.out.String())
	}
	d.out = apptest.Buffer{}
	if status := d.runs(t, "setup", "--list", "--json"); status != statusFine {
		t.Errorf("status %d", status)
	}
	var list struct{ Clients []setup.Client }
	if err := json.Unmarshal([]byte(d.out.String()), &list); err != nil || len(list.Clients) != 3 {
		t.Errorf("%v %s", err, d.out.String())
	}
}

// What is wrong with one file does not keep the others from being told.
func TestSetupProblem(t *testing.T) {
	d := newDesktop(t)
	f := d.withSettings(t)
	f.result.Changes = append([]setup.Change{{Client: "Claude Code", Path: d.home(".claude.json"), Problem: "Line 3, column 1: a name is missing."}}, f.result.Changes...)
	f.result.Running = []string{"Codex", "Claude Code"}
	if status := d.runs(t, "setup", "--yes"); status != statusFailed {
		t.Errorf("status %d", status)
	}
	if want := codexChanged + "Restart Codex and Claude Code to use it.\n" + startIt; slashed(d.out.String()) != want {
		t.Errorf("said %q", d.out.String())
	}
	apptest.Contains(t, slashed(d.err.String()), "lamplighter: ~/.claude.json is not changed: Line 3, column 1: a name is missing.\n")
	// With a terminal it is told once.
	d.err = apptest.Buffer{}
	d.keyboard = strings.NewReader("y\n")
	if status := d.runs(t, "setup"); status != statusFailed || strings.Count(d.err.String(), "column 1") != 1 {
		t.Errorf("status %d, said %s", status, d.err.String())
	}
}

func TestSetupCompletes(t *testing.T) {
	d := newDesktop(t)
	d.withSettings(t)
	d.runs(t, "__complete", "setup", "")
	apptest.Contains(t, d.out.String(), "claude-code\tClaude Code\n", "codex\tCodex\n")
	d.out = apptest.Buffer{}
	d.runs(t, "__complete", "setup", "codex", "--server", "")
	apptest.Contains(t, d.out.String(), "serena\tCodex\n")
	d.out = apptest.Buffer{}
	d.runs(t, "__complete", "setup", "codex", "")
	if strings.Contains(d.out.String(), "claude") {
		t.Errorf("offers a second client: %s", d.out.String())
	}
}

func TestSetupWhereLamplighterRuns(t *testing.T) {
	d := newDesktop(t)
	d.withSettings(t)
	d.serveBackground(t, &daemontest.Model{Current: d.snap})
	if d.runs(t, "setup", "codex", "--yes"); slashed(d.out.String()) != codexChanged {
		t.Errorf("said %q", d.out.String())
	}
}

var changedAt = time.Date(2026, 11, 20, 12, 3, 0, 0, time.Local)

// A client may be called as people call it.
func TestSetupNamesOfClients(t *testing.T) {
	for _, called := range []string{"codex", "Codex", "CODEX"} {
		d := newDesktop(t)
		f := d.withSettings(t)
		if status := d.runs(t, "setup", called, "--yes"); status != statusFine || len(f.asked) != 1 || f.asked[0].Client != "codex" {
			t.Errorf("%s: status %d, asked %+v", called, status, f.asked)
		}
	}
	for called, id := range map[string]string{"Claude Code": "claude-code", "VS CODE": "vscode", "code": "vscode", "Gemini CLI": "gemini", "cod": "", "claude": "", "": ""} {
		got := ""
		for _, c := range sixClients() {
			if isCalled(c, called) {
				got += c.ID
			}
		}
		if got != id {
			t.Errorf("%s: %q", called, got)
		}
	}
}

// What is left alone is no change.
func TestSetupOnlyLeft(t *testing.T) {
	for args, want := range map[string]string{"setup --yes": "Nothing else to change.\n", "setup --dry-run": "Nothing else to change.\n", "setup --undo --yes": "Nothing else to take out.\n"} {
		d := newDesktop(t)
		f := d.withSettings(t)
		c := &f.result.Changes[0]
		c.Left, c.Entries, c.Backup = c.Entries, nil, ""
		c.Left[0].Why = "Others may use this file."
		if status := d.runs(t, strings.Fields(args)...); status != statusFine || !strings.HasSuffix(d.out.String(), "Others may use this file.\n"+want) {
			t.Errorf("%s: status %d, %q", args, status, d.out.String())
		}
		// Nothing is written that names the folder of this program.
		if d.err.String() != "" {
			t.Errorf("%s: said %q", args, d.err.String())
		}
	}
}

// Who says no has got what was wished, also where a file could not be changed.
func TestSetupNoWithABrokenFile(t *testing.T) {
	d := newDesktop(t)
	f := d.withSettings(t)
	f.result.Changes = append(f.result.Changes, setup.Change{Client: "Claude Code", Path: d.home(".claude.json"), Problem: "Line 3, column 1: a name is missing.", Err: errors.New("a name is missing")})
	d.keyboard = strings.NewReader("n\n")
	if status := d.runs(t, "setup"); status != statusFine || !strings.HasSuffix(d.out.String(), "Nothing was changed.\n") {
		t.Errorf("status %d, %q", status, d.out.String())
	}
}

// The folder of this program is warned of where something is written, or would be.
func TestSetupWarnsOfItsFolder(t *testing.T) {
	const warning = "is a directory for temporary files"
	for args, want := range map[string]int{"setup --yes": 1, "setup --dry-run": 1, "setup --yes --json": 1, "setup --undo --yes": 0, "setup --list": 0} {
		d := newDesktop(t)
		d.withSettings(t)
		d.Base.TempDir = filepath.Dir(d.Self)
		d.runs(t, strings.Fields(args)...)
		if got := strings.Count(d.err.String(), warning); got != want {
			t.Errorf("%s: %d times in %q", args, got, d.err.String())
		}
	}
}

// The verb and the doctor name the socket that the page names, too.
func TestSetupIsToldTheSocket(t *testing.T) {
	d := newDesktop(t)
	d.Base.Home = t.TempDir()
	// It is named, so that it counts though only another one is there by now.
	want := filepath.Join(d.Base.Home, "away.sock")
	left := filepath.Join(d.Base.Home, ".local", "state", "lamplighter", "run", "share.sock")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	d.Getenv = func(name string) string {
		if name == "LAMPLIGHTER_SOCKET" {
			return want
		}
		return ""
	}
	var asked []string
	d.Setup = func(o setup.Options) api.Setup {
		asked = append(asked, o.Socket)
		return setup.New(o)
	}
	if _, err := d.settingsOfClients("connect"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(asked, []string{want}) {
		t.Errorf("%q", asked)
	}
}
