//go:build contract && linux

package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// Two secrets stand in each ordinary file; none is ever printed.
const (
	secretInEnvironment = "sk-ant-0123456789abcdefghijklmnop"
	secretInArguments   = "ghp_0123456789abcdefghijklmnopqrstuvwx"
)

// ordinary is what most people have: a Serena, another server and an address.
// The words are the name of the table.
const ordinary = `{
  "%s": {
    "serena": {"command": "uvx", "args": ["--from", "git+https://github.com/oraios/serena", "serena", "start-mcp-server", "--context", "ide"], "env": {"API_KEY": "` + secretInEnvironment + `"}},
    "github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github", "--token", "` + secretInArguments + `"]},
    "remote": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ` + secretInEnvironment + `"}}
  }
}
`

const ordinaryTOML = `model = "o"  # mine

[mcp_servers.serena]
command = "uvx"
args = ["--from", "serena-agent", "serena", "start-mcp-server", "--context", "codex"]  # mine
env = { API_KEY = "` + secretInEnvironment + `" }

[mcp_servers.github]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github", "--token", "` + secretInArguments + `"]
`

// settingsCase is a file of settings at its place, which of its entries setup
// puts behind Lamplighter, and one that it does when the user names it.
type settingsCase struct {
	name    string // of a file in testdata/settings, unless text is given
	place   string // in the home
	text    string
	table   string
	changed []string
	named   string
	status  int // of setup: 1 where the file cannot be understood
}

var settingsCases = []settingsCase{
	{name: "Claude Code", place: ".claude.json", text: fmt.Sprintf(ordinary, "mcpServers"), table: "mcpServers", changed: []string{"serena"}, named: "github"},
	{name: "Claude Desktop", place: ".config/Claude/claude_desktop_config.json", text: fmt.Sprintf(ordinary, "mcpServers"), table: "mcpServers", changed: []string{"serena"}, named: "github"},
	{name: "Codex", place: ".codex/config.toml", text: ordinaryTOML, table: "mcp_servers", changed: []string{"serena"}, named: "github"},
	{name: "Cursor", place: ".cursor/mcp.json", text: fmt.Sprintf(ordinary, "mcpServers"), table: "mcpServers", changed: []string{"serena"}, named: "github"},
	{name: "VS Code", place: ".config/Code/User/mcp.json", text: fmt.Sprintf(ordinary, "servers"), table: "servers", changed: []string{"serena"}, named: "github"},
	{name: "Gemini CLI", place: ".gemini/settings.json", text: fmt.Sprintf(ordinary, "mcpServers"), table: "mcpServers", changed: []string{"serena"}, named: "github"},

	{name: "c01-vscode-gallery-tabs.json", place: ".config/Code/User/mcp.json", table: "servers", changed: []string{"oraios/serena"}},
	{name: "c02-vscode-jsonc.json", place: ".config/Code/User/mcp.json", table: "servers", changed: []string{"serena"}},
	{name: "c03-gemini-bash-wrapper.json", place: ".gemini/settings.json", table: "mcpServers"},
	{name: "c04-codex-multiline.toml", place: ".codex/config.toml", table: "mcp_servers", named: "context7"},
	{name: "c05-crlf.mcp.json", place: ".cursor/mcp.json", table: "mcpServers", named: "ahk"},
	{name: "c06-mixed-tabs.cursor.json", place: ".cursor/mcp.json", table: "mcpServers", named: "context7"},
	{name: "c07-chezmoi-template.codex.toml", place: ".codex/config.toml", status: failed},
	{name: "c08-vscode-inputs.json", place: ".config/Code/User/mcp.json", table: "servers", named: "brave"},
	{name: "c09-codex-single-quotes.toml", place: ".codex/config.toml", table: "mcp_servers", named: "readability"},

	// What only gets Serena's command as its arguments is another program.
	{name: "g01-guard-uvx.json", place: ".claude.json", table: "mcpServers"},
	{name: "g02-guard-uv-run.json", place: ".claude.json", table: "mcpServers"},
	{name: "a guard that has Serena's name", place: ".claude.json", table: "mcpServers", text: `{"mcpServers": {"serena": {"command": "uvx", "args": ["--from", "guard", "serena", "start-mcp-server", "--context", "ide"]}}}`},
	{name: "g03-uv-directory-before-run.json", place: ".claude.json", table: "mcpServers", changed: []string{"serena"}},
}

// clientsWorld is a home with what the entries of settings start.
func clientsWorld(t *testing.T) *world {
	w := another(t, "")
	for _, name := range []string{"uvx", "uv", "npx", "docker"} {
		must(t, os.WriteFile(w.path("bin", name), []byte("#!/bin/sh\n"), 0o700))
	}
	return w
}

// settingsAt puts settings at their place and returns how to read them.
func (w *world) settingsAt(t *testing.T, place, text string) (read func() string) {
	t.Helper()
	write(t, w.path(place), text)
	return func() string {
		text, err := os.ReadFile(w.path(place))
		must(t, err)
		return string(text)
	}
}

// entries are the servers of a table in settings.
func entries(t *testing.T, c settingsCase, text string) object {
	t.Helper()
	var all object
	var err error
	if strings.HasSuffix(c.place, ".toml") {
		err = toml.Unmarshal([]byte(text), &all)
	} else {
		var plain []byte
		if plain, err = hujson.Standardize([]byte(text)); err == nil {
			err = json.Unmarshal(plain, &all)
		}
	}
	table, _ := all[c.table].(object)
	if err != nil || table == nil {
		t.Fatalf("%s: %v in\n%s", c.name, err, text)
	}
	return table
}

// words are the command of an entry and its arguments.
func words(entry any) []string {
	e, _ := entry.(object)
	list, _ := e["args"].([]any)
	all := []string{fmt.Sprint(e["command"])}
	for _, word := range list {
		all = append(all, fmt.Sprint(word))
	}
	return all
}

// firstDifference names the first line in which two texts differ.
func firstDifference(got, want string) string {
	now, before := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	i := 0
	for i < min(len(now), len(before)) && now[i] == before[i] {
		i++
	}
	return fmt.Sprintf("from line %d on it is %.300q, and should be %.300q", i+1, strings.Join(now[i:], ""), strings.Join(before[i:], ""))
}

// wrapped checks that an entry runs what it ran, through lamplighter-connect,
// also where Lamplighter does not run, and is the same otherwise.
func wrapped(t *testing.T, name string, before, after any) {
	t.Helper()
	now := words(after)
	split := slices.Index(now, "--")
	if split < 2 || now[0] != connect()[0] || now[1] != "connect" || !slices.Contains(now[:split], "--or-direct") || !slices.Equal(now[split+1:], words(before)) {
		t.Errorf("%s ran %q, and runs %q", name, words(before), now)
	}
	for key, value := range before.(object) {
		if key != "command" && key != "args" && !reflect.DeepEqual(value, after.(object)[key]) {
			t.Errorf("%s: its %s was %v, and is %v", name, key, value, after.(object)[key])
		}
	}
}

func TestSettingsOfClients(t *testing.T) {
	w := clientsWorld(t)
	for _, c := range settingsCases {
		t.Run(c.name, func(t *testing.T) {
			if c.text == "" {
				text, err := os.ReadFile(filepath.Join("testdata", "settings", c.name))
				must(t, err)
				c.text = string(text)
			}
			read := w.settingsAt(t, c.place, c.text)
			defer os.Remove(w.path(c.place))
			setup := func(want int, args ...string) {
				t.Helper()
				printed := w.does(t, want, append([]string{"setup"}, args...)...)
				for _, secret := range []string{secretInEnvironment, secretInArguments} {
					if strings.Contains(printed, secret) {
						t.Errorf("setup %q prints a secret:\n%s", args, printed)
					}
				}
			}
			is := func(when, want string) {
				t.Helper()
				if got := read(); got != want {
					t.Errorf("%s: %s", when, firstDifference(got, want))
				}
			}
			asBefore := func(when string) {
				t.Helper()
				is(when, c.text)
				if files, _ := filepath.Glob(w.path(c.place) + "?*"); len(files) > 0 { // the pattern is right
					t.Errorf("%s there is %q", when, files)
				}
			}
			become := func(names ...string) {
				t.Helper()
				before, after := entries(t, c, c.text), entries(t, c, read())
				for name := range before {
					if slices.Contains(names, name) {
						wrapped(t, name, before[name], after[name])
					} else if !reflect.DeepEqual(before[name], after[name]) {
						t.Errorf("%s was %v, and is %v", name, before[name], after[name])
					}
				}
				if len(after) != len(before) {
					t.Errorf("there were %d entries, and are %d", len(before), len(after))
				}
			}

			setup(fine, "--list")
			setup(c.status, "--dry-run")
			asBefore("after a dry run")
			if c.changed != nil {
				setup(usage) // nobody can be asked
				asBefore("without --yes")
			}
			setup(c.status, "--yes")
			if c.changed == nil {
				asBefore("after setup")
			} else {
				become(c.changed...)
			}
			once := read()
			setup(c.status, "--yes")
			is("setup again", once)
			setup(fine, "--undo", "--yes")
			asBefore("after undo")
			if c.named == "" {
				return
			}
			setup(fine, "--server", c.named, "--yes")
			become(c.named)
			// What its user changes meanwhile stays, and only our change is taken out.
			edited := strings.NewReplacer(secretInEnvironment, "another")
			write(t, w.path(c.place), edited.Replace(read()))
			setup(fine, "--undo", "--server", c.named, "--yes")
			is("after undo of "+c.named, edited.Replace(c.text))
			_ = os.Remove(w.path(c.place) + ".lamplighter-backup") // kept where it was edited
		})
	}
}

// After an uninstall no client starts a program that is gone: whoever wrote an
// entry, it is taken out, or it is named and nothing is uninstalled.
func TestUninstallLeavesNoClientBehind(t *testing.T) {
	const claude, cursor, codex = ".claude.json", ".cursor/mcp.json", ".codex/config.toml"
	shared := [2]string{"-connect", `["connect", "--", "npx", "notes-mcp"]`}
	for _, row := range []struct {
		name, flag string
		entry      [2]string // that somebody else wrote: which program, its arguments
		linked     bool      // its file has a second name, and setup refuses to part them
		status     int
		left       []string
	}{
		{"whoever wrote them", "--undo-setup", shared, false, fine, nil},
		{"one that cannot be changed", "--undo-setup", shared, true, failed, []string{cursor}},
		{"one that cannot be taken apart", "--undo-setup", [2]string{"", `["workspace", "mcp"]`}, false, failed, []string{cursor}},
		{"the user's wish", "--keep-setup", shared, false, fine, []string{claude, cursor, codex}},
	} {
		w := clientsWorld(t)
		w.does(t, fine, "install", "--no-start", "--no-login")
		program := w.path(".local", "bin", "lamplighter")
		write(t, w.path(claude), fmt.Sprintf(ordinary, "mcpServers"))
		w.start(nil, []string{program, "setup", "--yes"}).ends(t, fine)
		write(t, w.path(cursor), fmt.Sprintf(`{"mcpServers": {"notes": {"command": %q, "args": %s}}}`, program+row.entry[0], row.entry[1]))
		write(t, w.path(codex), "[mcp_servers.notes]\ncommand = '"+program+"-connect'\nargs = "+shared[1]+"\n")
		if row.linked {
			must(t, os.Link(w.path(cursor), w.path("second")))
		}
		printed := w.start(nil, []string{program, "uninstall", "--yes", row.flag}).ends(t, row.status)
		for _, place := range []string{claude, cursor, codex} {
			text, err := os.ReadFile(w.path(place))
			if left := bytes.Contains(text, []byte(program)); err != nil || left != slices.Contains(row.left, place) {
				t.Errorf("%s: %s is\n%s", row.name, place, text)
			} else if row.status == failed && left && !strings.Contains(printed, place) {
				t.Errorf("%s: %s is not named: %s", row.name, place, printed)
			}
		}
		exists(t, row.status == failed, program)
	}
}
