//go:build contract && linux

package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// secrets stand in the ordinary files. None is ever printed.
var secrets = []string{"sk-ant-0123456789abcdefghijklmnop", "ghp_0123456789abcdefghijklmnopqrstuvwx"}

// clientsWorld is a home with what the entries of settings start.
func clientsWorld(t *testing.T) *world {
	t.Helper()
	w := another(t, "")
	for _, name := range []string{"uvx", "uv", "npx", "docker"} {
		must(t, os.WriteFile(w.path("bin", name), []byte("#!/bin/sh\n"), 0o700))
	}
	return w
}

// settingsOf are those of a client in testdata, with the name of its table.
func settingsOf(name, table string) string {
	return fill(read(filepath.Join("testdata", "settings", name)), map[string]string{"table": table})
}

// entries are the servers of a table in settings.
func entries(t *testing.T, file, table, text string) object {
	t.Helper()
	var all object
	if strings.HasSuffix(file, ".toml") {
		must(t, toml.Unmarshal([]byte(text), &all))
	} else {
		plain, err := hujson.Standardize([]byte(text))
		must(t, err)
		must(t, json.Unmarshal(plain, &all))
	}
	found, _ := all[table].(object)
	check(t, found != nil, "%s has no %s", file, table)
	return found
}

// words are the command of an entry and its arguments.
func words(entry object) []string {
	list, _ := entry["args"].([]any)
	all := []string{fmt.Sprint(entry["command"])}
	for _, word := range list {
		all = append(all, fmt.Sprint(word))
	}
	return all
}

// become checks that these entries run what they ran, through lamplighter-connect,
// also where Lamplighter does not run, and that all else is as it was.
func become(t *testing.T, before, after object, changed ...string) {
	t.Helper()
	same(t, "so many entries there are", len(after), len(before))
	for name := range before {
		was, _ := before[name].(object)
		is, _ := after[name].(object)
		if slices.Contains(changed, name) {
			now := words(is)
			options, runs := now, []string(nil)
			if split := slices.Index(now, "--"); split >= 0 {
				options, runs = now[:split], now[split+1:]
			}
			same(t, name+" runs at last", runs, words(was))
			check(t, slices.Equal(options[:2], connect()) && slices.Contains(options, "--or-direct"), "%s runs %q", name, now)
			was["command"], was["args"] = is["command"], is["args"]
		}
		same(t, name, is, was)
	}
}

// Settings of clients before setup, after it, and after --undo, byte for byte.
func TestSettingsOfClients(t *testing.T) {
	w := clientsWorld(t)
	for _, row := range table(t, "settings.txt") {
		file, place, servers, changed, named := row[1], w.path(row[2]), row[3], cell(row, 4), cell(row, 5)
		status, err := strconv.Atoi(row[0])
		must(t, err)
		t.Run(file+" of "+filepath.Dir(row[2]), func(t *testing.T) {
			text := settingsOf(file, servers)
			write(t, place, text)
			defer os.Remove(place)
			setup := func(want int, args ...string) {
				t.Helper()
				printed := w.does(t, want, append([]string{"setup"}, args...)...)
				for _, secret := range secrets {
					check(t, !strings.Contains(printed, secret), "setup %q prints a secret:\n%s", args, printed)
				}
			}
			is := func(when, want string) {
				t.Helper()
				check(t, read(place) == want, "%s it is\n%q, and should be\n%q", when, read(place), want)
			}
			asBefore := func(when string) {
				t.Helper()
				is(when, text)
				files, err := filepath.Glob(place + "?*")
				check(t, err == nil && len(files) == 0, "%s there is %q", when, files)
			}
			becomes := func(name string) {
				t.Helper()
				become(t, entries(t, file, servers, text), entries(t, file, servers, read(place)), name)
			}

			setup(fine, "--list")
			setup(status, "--dry-run")
			asBefore("after a dry run")
			if changed != "" {
				setup(usage) // nobody can be asked
				asBefore("without --yes")
			}
			setup(status, "--yes")
			if changed != "" {
				becomes(changed)
			} else {
				asBefore("after setup")
			}
			once := read(place)
			setup(status, "--yes")
			is("after setup again", once)
			setup(fine, "--undo", "--yes")
			asBefore("after undo")
			if named == "" {
				return
			}
			setup(fine, "--server", named, "--yes")
			becomes(named)
			// What its user changes meanwhile stays, and only our change is taken out.
			edited := strings.NewReplacer(secrets[0], "another")
			write(t, place, edited.Replace(read(place)))
			setup(fine, "--undo", "--server", named, "--yes")
			is("after undo of "+named, edited.Replace(text))
			_ = os.Remove(place + ".lamplighter-backup") // kept where it was edited
		})
	}
}

// After an uninstall no client starts a program that is gone: whoever wrote an
// entry, it is taken out, or it is named and nothing is uninstalled.
func TestUninstallLeavesNoClientBehind(t *testing.T) {
	const claude, cursor, codex = ".claude.json", ".cursor/mcp.json", ".codex/config.toml"
	const shared = `-connect", "args": ["connect", "--", "npx", "notes-mcp"]`
	for _, row := range []struct {
		name, flag string
		entry      string // that somebody else wrote: which program, its arguments
		linked     bool   // its file has a second name, and setup refuses to part them
		status     int
		left       []string
	}{
		{"whoever wrote them", "--undo-setup", shared, false, fine, nil},
		{"one that cannot be changed", "--undo-setup", shared, true, failed, []string{cursor}},
		{"one that cannot be taken apart", "--undo-setup", `", "args": ["workspace", "mcp"]`, false, failed, []string{cursor}},
		{"the user's wish", "--keep-setup", shared, false, fine, []string{claude, cursor, codex}},
	} {
		w := clientsWorld(t)
		w.does(t, fine, "install", "--no-start", "--no-login")
		program := w.path(".local", "bin", "lamplighter")
		write(t, w.path(claude), settingsOf("ordinary.json", "mcpServers"))
		w.start(t, nil, program, "setup", "--yes").ends(t, fine)
		write(t, w.path(cursor), `{"mcpServers": {"notes": {"command": "`+program+row.entry+`}}}`)
		write(t, w.path(codex), "[mcp_servers.notes]\ncommand = '"+program+"-connect'\nargs = ['connect', '--', 'npx', 'notes-mcp']\n")
		if row.linked {
			must(t, os.Link(w.path(cursor), w.path("second")))
		}
		printed := w.start(t, nil, program, "uninstall", "--yes", row.flag).ends(t, row.status)
		for _, place := range []string{claude, cursor, codex} {
			text := read(w.path(place))
			left := strings.Contains(text, program)
			check(t, text != "" && left == slices.Contains(row.left, place), "%s: %s is\n%s", row.name, place, text)
			check(t, row.status == fine || !left || strings.Contains(printed, place), "%s: %s is not named: %s", row.name, place, printed)
		}
		exists(t, row.status == failed, program)
	}
}
