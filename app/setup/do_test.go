package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

const (
	cursorFile = ".cursor/mcp.json"
	codexFile  = ".codex/config.toml"
	direct     = `{"mcpServers": {"serena": {"command": "serena", "args": ["start-mcp-server", "--context", "ide"]}}}`
)

// shared is direct behind our lamplighter-connect.
func (b *bed) shared() string {
	return fmt.Sprintf(`{"mcpServers": {"serena": {"command": "%s", "args": ["connect", "--or-direct", "--", "serena", "start-mcp-server", "--context", "ide"]}}}`, inJSON(b.connect))
}

func TestDoAndUndo(t *testing.T) {
	for name, test := range map[string]struct{ file, text, want string }{
		"JSON": {
			cursorFile, "{\n  // mine\n  \"mcpServers\": {\n    \"serena\": {\n      \"command\": \"serena\", // this\n      \"args\": [\"start-mcp-server\", \"--context\", \"ide\",],\n      \"env\": {\"K\": \"v\"},\n    },\n  },\n}\n",
			"// mine",
		},
		"BOM and CRLF": {cursorFile, "\ufeff{\r\n\t\"mcpServers\": {\r\n\t\t\"serena\": {\r\n\t\t\t\"command\": \"serena\",\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"start-mcp-server\"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n", "\r\n"},
		"TOML":         {codexFile, "# mine\nmodel = 'x'\n[mcp_servers.serena]\ncommand = 'serena' # this\nargs = ['start-mcp-server', # that\n  '--context', 'codex']\nenv = { K = 'v' }\n", "# mine"},
		"without args": {codexFile, "[mcp_servers.serena]\ncommand = \"serena-mcp-server\"\n[x]\n", "[x]"},
		"off":          {cursorFile, strings.Replace(direct, `{"command"`, `{"disabled": true, "command"`, 1), "disabled"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.program("bin", "serena-mcp-server")
			path := b.write(test.file, test.text)

			dry := b.done(Wanted{DryRun: true, Contents: true})
			if b.read(path) != test.text || len(b.beside(path)) > 0 || clients.IsThere(b.state) {
				t.Fatalf("a dry run wrote: %q, %q", b.read(path), b.beside(path))
			}
			c := b.done(Wanted{Contents: true})
			after := b.read(path)
			if after == test.text || string(c.Before) != test.text || string(c.After) != after || string(dry.After) != after || !strings.Contains(after, test.want) {
				t.Fatalf("%s\n%s", c.After, after)
			}
			if len(c.Entries) != 1 || c.Entries[0].State != Shared || c.Entries[0].Becomes != "" || c.Entries[0].Why != "" || len(c.Left) > 0 {
				t.Errorf("%+v", c)
			}
			if c.Backup != path+".lamplighter-backup" || b.read(c.Backup) != test.text || dry.Backup != "" {
				t.Errorf("backup %q", c.Backup)
			}
			if e := b.listed(path, "serena"); e.State != Shared || e.Becomes != "" {
				t.Errorf("%+v", e)
			}
			if r := b.do(Wanted{}); len(r.Changes) > 0 || b.read(path) != after || len(b.beside(path)) != 1 {
				t.Errorf("the second time: %+v", r)
			}
			list, err := New(b.o).List(t.Context(), Wanted{File: path})
			if err != nil || list[0].Files[0].Changed == nil || list[0].Files[0].Backup != c.Backup {
				t.Errorf("%+v, %v", list, err)
			}

			dry = b.done(Wanted{Undo: true, DryRun: true, Contents: true})
			if b.read(path) != after || string(dry.After) != test.text || !dry.Whole || len(b.beside(path)) != 1 {
				t.Errorf("a dry undo: %+v", dry)
			}
			c = b.done(Wanted{Undo: true})
			if b.read(path) != test.text || !c.Whole || c.Backup != "" || len(b.beside(path)) > 0 {
				t.Errorf("undone: %q, %+v, %q", b.read(path), c, b.beside(path))
			}
			if len(c.Entries) != 1 || c.Entries[0].State != Direct {
				t.Errorf("%+v", c.Entries)
			}
			if r := b.do(Wanted{Undo: true}); len(r.Changes) > 0 {
				t.Errorf("undone again: %+v", r)
			}
			list, err = New(b.o).List(t.Context(), Wanted{File: path})
			if err != nil || list[0].Files[0].Changed != nil || list[0].Files[0].Backup != "" {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

func TestWhatIsMeant(t *testing.T) {
	b := newBed(t)
	gone := inJSON(filepath.Join(b.home, "gone", "lamplighter-connect"))
	path := b.write(cursorFile, `{"mcpServers": {
		"serena": {"command": "serena", "args": ["start-mcp-server"]},
		"lost": {"command": "`+inJSON(filepath.Join(b.home, "no", "serena"))+`", "args": ["start-mcp-server"]},
		"files": {"command": "serena", "args": ["x"]},
		"shell": {"command": "bash", "args": ["-c", "serena start-mcp-server"]},
		"moved": {"command": "`+gone+`", "args": ["connect", "--or-direct", "--", "files"]},
		"far": {"url": "https://h/mcp"},
		"serena-odd": {"command": 3}
	}}`)
	c := b.done(Wanted{DryRun: true})
	if names(c.Entries) != "serena moved" || names(c.Left) != "lost shell serena-odd" {
		t.Errorf("%s; %s", names(c.Entries), names(c.Left))
	}
	c = b.done(Wanted{DryRun: true, Servers: []string{"files", "shell", "far"}})
	if names(c.Entries) != "files shell" || names(c.Left) != "far" {
		t.Errorf("%s; %s", names(c.Entries), names(c.Left))
	}
	b.done(Wanted{})
	text := b.read(path)
	for _, part := range []string{`["connect", "--or-direct", "--", "files"]`, `"url": "https://h/mcp"`, `"command": 3`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if strings.Contains(text, gone) || strings.Count(text, inJSON(b.connect)) != 2 {
		t.Error(text)
	}
}

func names(list []Entry) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Name)
	}
	return strings.Join(all, " ")
}

// A file of the project is changed only when that is said.
func TestProject(t *testing.T) {
	b := newBed(t)
	path := b.write(filepath.Join(b.dir, ".mcp.json"), direct)
	c := b.done(Wanted{})
	if len(c.Entries) > 0 || names(c.Left) != "serena" || !strings.Contains(c.Left[0].Why, "Others may use this file") || b.read(path) != direct || len(b.beside(path)) != 1 {
		t.Errorf("%+v", c)
	}
	for _, w := range []Wanted{{Project: true}, {File: path}} {
		if c := b.done(w); c.Client != "Claude Code" || b.read(path) != b.shared() {
			t.Errorf("%+v", c)
		}
		if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(path) != direct {
			t.Errorf("%+v", c)
		}
	}
	// What others have put there is theirs.
	b.write(path, b.shared())
	if c := b.done(Wanted{Undo: true}); len(c.Entries) > 0 || len(c.Left) != 1 || b.read(path) != b.shared() {
		t.Errorf("%+v", c)
	}
	if c := b.done(Wanted{Undo: true, Project: true}); len(c.Entries) != 1 || b.read(path) != direct {
		t.Errorf("%+v", c)
	}
}

func TestFlags(t *testing.T) {
	b := newBed(t)
	b.write(cursorFile, strings.ReplaceAll(direct, `"ide"`, `"ide", "--project-from-cwd"`))
	if r := b.do(Wanted{}); r.Page {
		t.Errorf("one that is shared opens no page: %+v", r)
	}
	b = newBed(t)
	path := b.write(cursorFile, direct)
	b.done(Wanted{NoPage: true})
	want := strings.Replace(b.shared(), `"ide"`, `"ide", "--open-web-dashboard", "false"`, 1)
	if b.read(path) != want {
		t.Errorf("%s\n%s", b.read(path), want)
	}
	if r := b.do(Wanted{}); len(r.Changes) > 0 {
		t.Errorf("--no-page is not kept: %+v", r)
	}
	if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(path) != direct || len(b.beside(path)) > 0 {
		t.Errorf("both are undone at once: %+v, %q", c, b.beside(path))
	}
}

// Servers that open their own page are told about.
func TestPageRemains(t *testing.T) {
	b := newBed(t)
	b.write(cursorFile, strings.ReplaceAll(direct, `"ide"`, `"ide", "--project", "~/x"`)) // it runs alone
	if r := b.do(Wanted{DryRun: true}); !r.Page {
		t.Errorf("%+v", r)
	}
	if r := b.do(Wanted{NoPage: true}); r.Page {
		t.Errorf("%+v", r)
	}
	b.done(Wanted{Undo: true})
	b.o.PageOpens = func() bool { return false }
	if r := b.do(Wanted{DryRun: true}); r.Page {
		t.Errorf("%+v", r)
	}
}

func TestRunningClientsAreTold(t *testing.T) {
	b := newBed(t)
	b.o.Programs = func() ([]process.Info, error) {
		return []process.Info{{Identity: monitor.Identity{PID: 7}, Exe: "/usr/bin/codex", Args: []string{"codex"}}}, errors.New("not all could be read")
	}
	b.write(cursorFile, direct)
	if r := b.do(Wanted{}); len(r.Running) > 0 {
		t.Errorf("%+v", r.Running)
	}
	b.write(codexFile, "[mcp_servers.serena]\ncommand = 'serena'\nargs = ['start-mcp-server']\n")
	if r := b.do(Wanted{}); !slices.Equal(r.Running, []string{"Codex"}) {
		t.Errorf("%+v", r.Running)
	}
}

// Two places that lead to one file are one file.
func TestTwoPlacesOneFile(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.o.Dir = b.home // whose .mcp.json is the project's
	if err := os.Symlink(path, filepath.Join(b.home, ".mcp.json")); err != nil {
		t.Log(err) // where links are not allowed
		return
	}
	for _, w := range []Wanted{{DryRun: true}, {}, {Undo: true, DryRun: true}, {Undo: true}} {
		if c := b.done(w); len(c.Entries) != 1 {
			t.Errorf("%+v: %+v", w, c)
		}
	}
	if b.read(path) != direct || len(b.beside(path)) > 0 {
		t.Errorf("%s, %q", b.read(path), b.beside(path))
	}
}

// A backup takes no name that is taken.
func TestBackupNames(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	b.write(path+".lamplighter-backup", "mine")
	c := b.done(Wanted{})
	if c.Backup != path+".lamplighter-backup-2" || b.read(path+".lamplighter-backup") != "mine" {
		t.Errorf("%+v", c)
	}
	if b.done(Wanted{Undo: true}); b.read(path+".lamplighter-backup") != "mine" || len(b.beside(path)) != 1 {
		t.Errorf("%q", b.beside(path))
	}
}

// Where what undo needs cannot be kept, nothing is written.
func TestRecordCannotBeWritten(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, direct)
	record := filepath.Join(b.state, recordName)
	if err := errors.Join(os.MkdirAll(b.state, 0o700), os.WriteFile(record, []byte(`{"version": 2}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(b.o).Do(t.Context(), Wanted{}); err == nil || b.read(path) != direct || len(b.beside(path)) > 0 {
		t.Errorf("%v, %q", err, b.beside(path))
	}
}

// What lies in the place of the record keeps nobody from undo.
func TestUndoWithoutRecord(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, b.shared())
	if err := os.MkdirAll(filepath.Join(b.state, recordName), 0o700); err != nil {
		t.Fatal(err)
	}
	if b.done(Wanted{Undo: true}); b.read(path) == b.shared() {
		t.Error("it was not undone")
	}
}

func TestList(t *testing.T) {
	b := newBed(t)
	secret := "sk-proj-abcdefghijklmnop"
	for _, path := range []string{".claude.json", cursorFile, ".gemini/settings.json"} {
		b.write(path, strings.Replace(direct, `"--context"`, `"--api-key", "`+secret+`", "--context"`, 1))
	}
	b.write(codexFile, "[mcp_servers.serena]\ncommand = 'serena'\nargs = ['start-mcp-server']\nenv = { K = '"+secret+"' }\n")
	list, err := New(b.o).List(t.Context(), Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, c := range list {
		if c.Found() {
			found = append(found, c.ID)
		}
		for _, f := range c.Files {
			if f.Exists && (len(f.Entries) != 1 || f.Problem != "" || !strings.Contains(f.Entries[0].Becomes, "--or-direct") || f.Entries[0].Line == 0) {
				t.Errorf("%s: %+v", c.ID, f)
			}
		}
	}
	if want := []string{"claude-code", "codex", "cursor", "gemini-cli"}; !slices.Equal(found, want) || len(list) != 16 {
		t.Errorf("%q of %d", found, len(list))
	}
	if strings.Contains(fmt.Sprintf("%+v", list), secret) {
		t.Errorf("a secret is shown: %+v", list)
	}
	one, err := New(b.o).List(t.Context(), Wanted{Client: "codex"})
	if err != nil || len(one) != 1 || one[0].Name != "Codex" {
		t.Errorf("%+v, %v", one, err)
	}
	if clients.IsThere(b.state) {
		t.Error("a list has written something")
	}
}

// Any file of the usual shape can be named.
func TestNamedFile(t *testing.T) {
	b := newBed(t)
	path := b.write("other/settings.jsonc", direct)
	if r := b.do(Wanted{}); len(r.Changes) > 0 {
		t.Errorf("%+v", r)
	}
	if c := b.done(Wanted{File: path}); c.Client != "" || b.read(path) != b.shared() {
		t.Errorf("%+v", c)
	}
	// To undo everything, it need not be named again.
	if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(path) != direct {
		t.Errorf("%+v", c)
	}
	// The servers of such a file may be others than those of MCP.
	many := b.write("other/app.json", `{"servers": {"eu": {"host": "h"}, "us": 3, "serena": {"command": "serena", "args": ["start-mcp-server"]}, "odd": {"command": 3}}}`)
	list, err := New(b.o).List(t.Context(), Wanted{File: many})
	if err != nil || names(list[0].Files[0].Entries) != "serena odd" {
		t.Errorf("%+v, %v", list, err)
	}
	before := b.read(many)
	if c := b.done(Wanted{File: many}); names(c.Entries) != "serena" || names(c.Left) != "" {
		t.Errorf("%+v", c)
	}
	if c := b.done(Wanted{Undo: true}); !c.Whole || b.read(many) != before {
		t.Errorf("%+v", c)
	}
	text := b.write("other/settings.yaml", "x")
	r := b.do(Wanted{File: text})
	if len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Problem, ".toml") {
		t.Errorf("%+v", r)
	}
}
