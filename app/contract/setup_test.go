//go:build contract && linux

package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"lamplighter/app/apptest"
	"lamplighter/tray/traytest"
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
			check(t, slices.Equal(now[:min(2, len(now))], connect()) && slices.Contains(options, "--or-direct"), "%s runs %q", name, now)
			was["command"], was["args"] = is["command"], is["args"]
		}
		same(t, name, is, was)
	}
}

// Settings of clients before setup, after it, and after --undo, byte for byte.
func TestSettingsOfClients(t *testing.T) {
	w := clientsWorld(t)
	for _, row := range table(t, "settings.txt") {
		status, file, place, servers, changed, named := number(t, row[0]), row[1], w.path(row[2]), row[3], cell(row, 4), cell(row, 5)
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

// startsAtLogin are the commands that a desktop or systemd starts in a home, without
// quotes.
func (w *world) startsAtLogin() (commands []string) {
	for _, files := range []string{".config/autostart/*", ".config/systemd/user/*"} {
		paths, _ := filepath.Glob(w.path(files)) // the pattern is right
		for _, path := range paths {
			for _, line := range regexp.MustCompile(`(?m)^Exec(?:Start)?=(.*)`).FindAllStringSubmatch(read(path), -1) {
				commands = append(commands, strings.ReplaceAll(line[1], `"`, ""))
			}
		}
	}
	return commands
}

// What the user asked the program to be written on is linked into it.
func TestLibraries(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "lamplighter/app")
	list.Env = append(list.Environ(), "GOOS=linux")
	out, err := list.Output()
	must(t, err)
	for library, linked := range map[string]bool{
		"fyne.io/systray":               true,
		"github.com/pkg/browser":        true,
		"github.com/shirou/gopsutil/v3": true,
		"github.com/kardianos/service":  false, // a known gap
	} {
		same(t, library+" is linked into the program for Linux", strings.Contains("\n"+string(out), "\n"+library), linked)
	}
}

// The menu as a panel reads it over D-Bus: its lines, what a click does, and
// that it follows what happens.
func TestMenu(t *testing.T) {
	w := another(t, "")
	address, _ := traytest.StartBus(t)
	w.env = append(w.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	daemon := w.start(t, nil, lamplighter("run")...)
	item := panel.AwaitItem(t)
	beta := home.startFound(t, "beta")
	labels := func() string { return panel.Labels(t, item) }
	click := func(label string) { panel.Event(t, item, panel.Find(t, item, label).ID, "clicked") }
	entry := func(s *server, name string) *regexp.Regexp {
		return regexp.MustCompile(fmt.Sprintf(`(?m)^%d - %s\b`, s.pid(), name))
	}
	alphas, betas := entry(alpha, "alpha"), entry(beta, "beta")
	apptest.Eventually(t, "both are in the menu", func() bool { return alphas.MatchString(labels()) && betas.MatchString(labels()) })
	first := panel.Lines(t, item)[0].Label
	check(t, regexp.MustCompile(`^\d+ servers\b`).MatchString(first), "the first line is %q", first)
	line := panel.Find(t, item, alphas.FindString(labels()))
	check(t, line.Icon != "" && line.Enabled, "alpha's entry is %q, enabled %v, with an icon of %d bytes", line.Label, line.Enabled, len(line.Icon))

	click(alphas.FindString(labels()))
	w.opens(t, "http://127.0.0.1:"+strconv.Itoa(alpha.port)+"/dashboard/")
	click("Open global dashboard")
	w.opens(t, "http://127.0.0.1:"+strconv.Itoa(w.page)+p)
	// We hold beta, so that its end is asked about: on the page, where nobody shows notifications.
	apptest.Eventually(t, "the page asks about beta", func() bool {
		for _, line := range panel.Find(t, item, "Stop").Lines {
			if betas.MatchString(line.Label) {
				panel.Event(t, item, line.ID, "clicked")
			}
		}
		return strings.Contains(read(w.path("opened")), fmt.Sprintf("%s#/%d-", p, beta.pid()))
	})
	check(t, beta.running(), "beta has ended unasked")
	w.does(t, fine, "stop", strconv.Itoa(beta.pid()))
	apptest.Eventually(t, "it leaves the menu at once", func() bool { return !strings.Contains(labels(), "beta") })
	atLogin := func() bool { return panel.Find(t, item, "Start at login").Checked && len(w.startsAtLogin()) > 0 }
	click("Start at login")
	apptest.Eventually(t, "it is switched on", atLogin)
	apptest.Contains(t, strings.Join(w.startsAtLogin(), "\n"), lamplighter()[0]+" run")
	same(t, "switching it off on the page", w.ask(page, "PUT", p+"login", `{"on": false}`, nil).status, 200)
	apptest.Eventually(t, "it is switched off", func() bool { return !atLogin() && len(w.startsAtLogin()) == 0 })
	click("Quit")
	daemon.ends(t, fine)
	check(t, alpha.running(), "what others started has ended with us")
}
