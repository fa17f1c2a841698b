package installer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEntriesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program := programPaths().Draw(t, "program")
		menu, err := MenuEntry(program)
		if err != nil {
			t.Fatal(err)
		}
		start, err := autostartEntry(program, rapid.Bool().Draw(t, "unit"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{menu, start} {
			keys := parseEntry(string(marked(text)))
			if got := entryProgram(keys["Exec"]); got != program || !entryOn(keys, nil) || keys["Name"] != "Lamplighter" {
				t.Fatalf("%q\n%s", got, text)
			}
		}
	})
}

func TestAutostartEntry(t *testing.T) {
	text := func(unit bool) string {
		text, err := autostartEntry("/home/me/.local/bin/lamplighter", unit)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, line := range []string{"Exec=/home/me/.local/bin/lamplighter run --at-login", "NoDisplay=false", "X-GNOME-Autostart-enabled=true", "X-systemd-skip=true"} {
		if !strings.Contains(text(true), "\n"+line+"\n") {
			t.Errorf("%q is not in\n%s", line, text(true))
		}
	}
	if strings.Contains(text(false), "systemd") {
		t.Error(text(false))
	}
	// Desktops that switch it off write it anew, without comments.
	if !isOurs([]byte(strings.Replace(text(true), "NoDisplay", "Hidden=true\r\nNoDisplay", 1))) || isOurs([]byte(strings.ReplaceAll(text(true), writtenKey, "X"))) {
		t.Error("it is not known again")
	}
}

func TestEntryProgram(t *testing.T) {
	for value, want := range map[string]string{
		"lamplighter run":          "lamplighter",
		`"/a b/lamplighter" run`:   "/a b/lamplighter",
		`"/a\\$b\\\\c\\"d" %U`:     `/a$b\c"d`,
		`/a%%b %f --x`:             "/a%b",
		`env X=1 /opt/lamplighter`: "/opt/lamplighter",
		`'/single quoted/x'`:       "/single quoted/x",
		`/a\sb`:                    "/a",
		`/a\\ b`:                   "/a b",
		`"/unfinished`:             "",
		`/ends %`:                  "",
		"/ends\\":                  "",
		"%f":                       "",
		"":                         "",
		`/bin/sh -c "exec \\"\\$0\\" \\"\\$@\\"" /a=b`: "/a=b",
	} {
		if got := entryProgram(value); got != want {
			t.Errorf("%s: %q, not %q", value, got, want)
		}
	}
}

func TestEntryOn(t *testing.T) {
	for name, test := range map[string]struct {
		text, desktop string
		want          bool
	}{
		"plain":             {"Exec=x", "XFCE", true},
		"hidden":            {"Exec=x\nHidden=true", "", false},
		"hidden, oddly":     {"Exec=x\n Hidden = True ", "", false},
		"not hidden":        {"Hidden=false\nHidden=true", "", true}, // the first counts
		"off in GNOME":      {"X-GNOME-Autostart-enabled=false", "", false},
		"of another group":  {"Exec=x\n[Desktop Action Quit]\nHidden=true", "", true},
		"for another":       {"OnlyShowIn=KDE;", "XFCE", false},
		"for this one":      {"OnlyShowIn=KDE;XFCE;", "XFCE", true},
		"for one not known": {"OnlyShowIn=KDE;", "", true},
		"not for this one":  {"NotShowIn=GNOME;", "ubuntu:GNOME", false},
		"not for another":   {"NotShowIn=KDE;;", "ubuntu:GNOME", true},
		"comment":           {"#Hidden=true", "", true},
	} {
		if got := entryOn(parseEntry("# x\n[Desktop Entry]\n"+test.text+"\n"), listed(test.desktop)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func FuzzEntry(f *testing.F) {
	text, err := autostartEntry("/a b$c/lamplighter", true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("[Desktop Entry]\nExec=\"a\\\\$b\" 'c' %% %f \\s\nHidden=true\n[x]\n")
	f.Add("[Desktop Entry]\nExec=%\nExec=\\\nOnlyShowIn=;;")
	f.Fuzz(func(t *testing.T, text string) {
		keys := parseEntry(text)
		entryOn(keys, []string{"XFCE"})
		program := entryProgram(keys["Exec"])
		if nameable(program) != nil {
			return
		}
		again, err := MenuEntry(program)
		if err != nil {
			t.Fatal(err)
		}
		if got := entryProgram(parseEntry(again)["Exec"]); got != program {
			t.Errorf("%q, then %q", program, got)
		}
	})
}
