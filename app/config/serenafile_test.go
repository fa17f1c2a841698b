package config

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestParseSerena(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		want    Layer
		line    int
		problem string // part of it; empty: none
	}{
		"empty":         {"", Layer{}, 0, ""},
		"nothing ours":  {"language_backend: LSP\nprojects:\n- /home/me/a\n- /home/me/b\nls_specific_settings: {}\n", Layer{}, 0, ""},
		"all of it":     {"web_dashboard: true\nweb_dashboard_global: false\nweb_dashboard_global_open_on_launch: true\nprojects: []\nweb_dashboard_global_port: 4000\n", layer(false, true, 4000), 0, ""},
		"CRLF, BOM":     {"\ufeffweb_dashboard_global: false\r\nprojects: []\r\n", layer(false, nil, nil), 0, ""},
		"null":          {"web_dashboard_global_port: null\nweb_dashboard_global:\nweb_dashboard_global_open_on_launch: ~\n", Layer{}, 0, ""},
		"further down":  {"other:\n  web_dashboard_global: false\n", Layer{}, 0, ""},
		"in a text":     {"prompt: |\n  web_dashboard_global: false\n", Layer{}, 0, ""},
		"theirs is odd": {"1: 2\nweb_dashboard: &x !!bool yes\nfriend: *x\nweb_dashboard_global: false\n", layer(false, nil, nil), 0, ""},

		"wrong port":       {"projects: []\nweb_dashboard_global_port: 80\nweb_dashboard_global: false\n", layer(false, nil, nil), 2, `web_dashboard_global_port: "80" is not a port`},
		"wrong switch":     {"web_dashboard_global: often\n", Layer{}, 1, `web_dashboard_global: "often" is not one of true, false`},
		"a list":           {"a: 1\nweb_dashboard_global: [false]\n", Layer{}, 2, "wants one plain value"},
		"an alias":         {"a: &x false\nweb_dashboard_global: *x\n", Layer{}, 2, "wants one plain value"},
		"broken":           {"web_dashboard_global: false\nprojects: [\n", Layer{}, 2, "sequence end"},
		"twice":            {"web_dashboard_global: false\nweb_dashboard_global: true\n", Layer{}, 2, "already defined"},
		"a tab":            {"web_dashboard_global: false\na:\n\tb: c\n", Layer{}, 3, "starts with a tab"},
		"UTF-16":           {utf16le("web_dashboard_global: false\n"), Layer{}, 1, "UTF-16"},
		"binary":           {"\x7fELF web_dashboard_global", Layer{}, 1, "control character"},
		"a list at top":    {"- web_dashboard_global\n", Layer{}, 1, "name: value"},
		"two documents":    {"a: 1\n---\nweb_dashboard_global: false\n", Layer{}, 3, "second document"},
		"a very long line": {"web_dashboard_global: false\nb: " + strings.Repeat("x", maxSerenaLine) + "\n", Layer{}, 2, "longer than 8 KiB"},
		"deep":             {"web_dashboard_global: false\n" + strings.Repeat("a: [\n", 2000), Layer{}, 1002, "too many brackets"},

		// Whatever is wrong in a file without our names is Serena's business.
		"broken, not ours":           {"projects: [\n", Layer{}, 0, ""},
		"twice, not ours":            {"a: 1\na: 2\n", Layer{}, 0, ""},
		"a tab, not ours":            {"a:\n\tb: c\n", Layer{}, 0, ""},
		"UTF-16, not ours":           {utf16le("projects: []\n"), Layer{}, 0, ""},
		"binary, not ours":           {"\x7fELF", Layer{}, 0, ""},
		"a list at top, not ours":    {"- a\n", Layer{}, 0, ""},
		"two documents, not ours":    {"a: 1\n---\nb: 2\n", Layer{}, 0, ""},
		"a very long line, not ours": {"# " + strings.Repeat("x", maxSerenaLine) + "\n", Layer{}, 0, ""},
		"deep, not ours":             {strings.Repeat("a: [\n", 2000), Layer{}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := parseSerena([]byte(test.text), Layer{})
			if Layers(got, layer(true, false, 25282)) != Layers(test.want, layer(true, false, 25282)) {
				t.Errorf("got %+v", Layers(got))
			}
			switch {
			case test.problem == "" && len(problems) > 0:
				t.Error(problems)
			case test.problem != "" && (len(problems) != 1 || problems[0].Line != test.line || !strings.Contains(problems[0].Text, test.problem)):
				t.Errorf("got %v, want line %d and %q", problems, test.line, test.problem)
			}
		})
	}
}

func utf16le(text string) string {
	both := "\xff\xfe"
	for _, c := range []byte(text) {
		both += string([]byte{c, 0})
	}
	return both
}

// The minutes may stand there too, alone.
func TestSerenaIdleShutdown(t *testing.T) {
	before := Minutes(5 * time.Minute)
	for text, want := range map[string]any{
		"idle_shutdown_minutes: 30\n":                             30 * time.Minute,
		"projects: []\nidle_shutdown_minutes: 0.5\n":              30 * time.Second,
		"idle_shutdown_minutes: none\n":                           time.Duration(0),
		"idle_shutdown_minutes: null\n":                           nil, // as if it did not stand there
		"idle_shutdown_minutes:\n":                                nil,
		"web_dashboard_global: true\n":                            nil,
		"idle_shutdown_minutes: 0\n":                              5 * time.Minute, // refused: what held before stays
		"idle_shutdown_minutes: -1\nweb_dashboard_global: true\n": 5 * time.Minute,
	} {
		got, problems := parseSerena([]byte(text), Layer{IdleShutdownMinutes: &before})
		refused := want == 5*time.Minute
		if refused != (len(problems) == 1) || (want == nil) != (got.IdleShutdownMinutes == nil) {
			t.Errorf("%q: %v, %v", text, got.IdleShutdownMinutes, problems)
		} else if want != nil && time.Duration(*got.IdleShutdownMinutes) != want {
			t.Errorf("%q: %v", text, time.Duration(*got.IdleShutdownMinutes))
		}
	}
}

// What cannot be read stays as it was.
func TestParseSerenaAfterAnother(t *testing.T) {
	before := layer(false, true, 4000)
	for name, test := range map[string]struct {
		text string
		want Layer
		ok   bool
	}{
		"nothing ours":        {"projects: []\n", Layer{}, true},
		"broken, not ours":    {"projects: [\n", Layer{}, true},
		"empty":               {"", Layer{}, true},
		"null":                {"web_dashboard_global: null\n", Layer{}, true},
		"all but one":         {"web_dashboard_global_port: 5000\n", layer(nil, nil, 5000), true},
		"broken":              {"web_dashboard_global_port: 5000\nprojects: [\n", before, false},
		"twice":               {"web_dashboard_global: true\nweb_dashboard_global: true\n", before, false},
		"a wrong switch":      {"web_dashboard_global: sometimes\nweb_dashboard_global_port: 5000\n", layer(false, nil, 5000), false},
		"a wrong port":        {"web_dashboard_global_port: 80\nweb_dashboard_global: true\n", layer(true, nil, 4000), false},
		"all of them wrong":   {"web_dashboard_global: 1\nweb_dashboard_global_open_on_launch: 2\nweb_dashboard_global_port: 3\n", before, false},
		"only in a comment":   {"# web_dashboard_global: true\nprojects: []\n", Layer{}, true},
		"only comments":       {"# web_dashboard_global: true\n", Layer{}, true},
		"a comment, a typo":   {"# web_dashboard_global: true\nprojects: [\n", before, false},
		"in UTF-16":           {utf16le("web_dashboard_global: true\n"), before, false},
		"further down, wrong": {"a:\n  web_dashboard_global: 1\n", Layer{}, true},
	} {
		got, problems := parseSerena([]byte(test.text), before)
		if !reflect.DeepEqual(got, test.want) || (len(problems) == 0) != test.ok {
			t.Errorf("%s: got %+v, %v", name, got, problems)
		}
	}
}

func TestLoadSerena(t *testing.T) {
	load := func(home string) (Layer, error) { return NewSerenaWatcher(home, nil).Load() }
	home := t.TempDir()
	for _, nowhere := range []string{"", home, filepath.Join(home, "none", "deeper")} {
		if l, err := load(nowhere); err != nil || l != (Layer{}) {
			t.Errorf("%q: %+v, %v", nowhere, l, err)
		}
	}
	path := filepath.Join(home, SerenaFile)
	write(t, path, "projects: []\nweb_dashboard_global_port: none\nweb_dashboard_global: false\n")
	l, err := load(home)
	var file *FileError
	if Layers(l) != (Dashboard{Port: DefaultPort}) || !errors.As(err, &file) || !strings.HasPrefix(err.Error(), path+`:2: web_dashboard_global_port: "none"`) {
		t.Errorf("%+v, %v", Layers(l), err)
	}
	filler := strings.Repeat("# filler\n", maxSerenaSize/8)
	write(t, path, filler)
	if l, err := load(home); l != (Layer{}) || err != nil {
		t.Errorf("a huge file without our names: %+v, %v", l, err)
	}
	write(t, path, filler+"web_dashboard_global: false\n")
	if l, err := load(home); l != (Layer{}) || err == nil || !strings.Contains(err.Error(), path+": is larger than 256 KiB") {
		t.Errorf("a huge file: %+v, %v", l, err)
	}
	remove(t, path)
	must(t, os.Mkdir(path, 0o700))
	if l, err := load(home); l != (Layer{}) || err == nil || !strings.Contains(err.Error(), path+": is a directory") {
		t.Errorf("a directory: %+v, %v", l, err)
	}

	// What was read stays when it cannot be read again, and goes with the file.
	remove(t, path)
	write(t, path, "web_dashboard_global: false\n")
	w := NewSerenaWatcher(home, nil)
	for step, again := range []func(){
		func() {},
		func() { remove(t, path); must(t, os.Mkdir(path, 0o700)) },
		func() { remove(t, path); write(t, path, filler+"web_dashboard_global: true\n") },
	} {
		again()
		if l, err := w.Load(); Layers(l).On || (err == nil) != (step == 0) {
			t.Errorf("step %d: %+v, %v", step, Layers(l), err)
		}
	}
	write(t, path, filler)
	if l, err := w.Load(); l != (Layer{}) || err != nil {
		t.Errorf("without our names: %+v, %v", l, err)
	}
}

func TestReloadOfSerenasFile(t *testing.T) {
	home := filepath.Join(t.TempDir(), ".serena") // which is made later
	path := filepath.Join(home, SerenaFile)
	type told struct {
		Dashboard
		problem string
	}
	news := make(chan told, 1000)
	w := NewSerenaWatcher(home, func(l Layer, err error) { news <- told{Layers(l), errorText(err)} })
	w.after = atOnce
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx) }()
	defer func() { cancel(); <-ended }()
	wants := func(what string, ok func(told) bool) {
		t.Helper()
		limit := time.After(deadline)
		var before []told
		for {
			select {
			case n := <-news:
				if ok(n) {
					return
				}
				before = append(before, n)
			case <-limit:
				t.Fatalf("no news of %s; told %+v", what, before)
			}
		}
	}
	replace(t, path, "web_dashboard_global_port: 4000\n")
	wants("another port", func(n told) bool { return n.Port == 4000 && n.problem == "" })
	replace(t, path, "web_dashboard_global_port: 4000\nweb_dashboard_global: false\n")
	wants("a switch", func(n told) bool { return n.Port == 4000 && !n.On && n.problem == "" })
	// The last good settings stay, all of them or each.
	replace(t, path, "web_dashboard_global_port: 5000\nprojects: [\n")
	wants("a broken file", func(n told) bool {
		return n.Port == 4000 && !n.On && strings.Contains(n.problem, SerenaFile+":2: ")
	})
	replace(t, path, "web_dashboard_global_port: 5000\nweb_dashboard_global: sometimes\n")
	wants("a wrong value", func(n told) bool {
		return n.Port == 5000 && !n.On && strings.Contains(n.problem, SerenaFile+`:2: web_dashboard_global: "sometimes"`)
	})
	replace(t, path, "web_dashboard_global: false\n")
	wants("a mended file", func(n told) bool { return n.Port == DefaultPort && !n.On && n.problem == "" })
	replace(t, path, "projects: []\nweb_dashboard_global: false\n") // no news: it says the same
	remove(t, path)
	n := <-news
	if want := (told{Dashboard: Layers()}); n != want {
		t.Errorf("told %+v, want %+v", n, want)
	}
}

// A name is found wherever it stands, also where one reading ends in it.
func TestSearchForUs(t *testing.T) {
	type search struct {
		text string
		want bool
	}
	for _, ours := range serenaNames {
		for name, test := range map[string]search{
			"nothing":   {"", false},
			"alone":     {ours, true},
			"cut short": {strings.Repeat("x", 200_000) + ours[:len(ours)-1], false},
			"at an end": {strings.Repeat("x", 64<<10-7) + ours + strings.Repeat("x", 100_000), true},
			"at last":   {strings.Repeat("x", 200_000) + ours, true},
		} {
			for how, r := range map[string]io.Reader{
				"whole":    strings.NewReader(test.text),
				"halved":   iotest.HalfReader(strings.NewReader(test.text)),
				"with EOF": iotest.DataErrReader(strings.NewReader(test.text)),
			} {
				if got, err := searchForUs(r); got != test.want || err != nil {
					t.Errorf("%s, %s, %s: %v, %v", ours, name, how, got, err)
				}
			}
		}
	}
	broken := errors.New("an I/O error")
	if _, err := searchForUs(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func FuzzParseSerena(f *testing.F) {
	for _, seed := range []string{
		"", "web_dashboard_global: false\n", "web_dashboard_global_port: 0\n", "projects:\n- /a\n- /b\nweb_dashboard_global_open_on_launch: true\n",
		"web_dashboard_global: &a [*a]\n", "? web_dashboard_global\n: false\n", "<<: {web_dashboard_global: false}\n", "a: |\n  b\nweb_dashboard_global_port: 0x62c2\n",
		"idle_shutdown_minutes: 0\n", "idle_shutdown_minutes: 99999999999999999999\n", "idle_shutdown_minutes: 1e3\n",
		"--- !!map\n{}\n...\n", "\x00", "\xff", "%YAML 9\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxSerenaSize {
			return
		}
		got, problems := parseSerena(slices.Clone(text), Layer{})
		if d := Layers(got); d.Port < 1024 || d.Port > 65535 {
			t.Errorf("port %d", d.Port)
		}
		if m := got.IdleShutdownMinutes; m != nil && (*m < 0 || time.Duration(*m) > 366*24*time.Hour) {
			t.Errorf("%v", time.Duration(*m))
		}
		lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 1
		for _, p := range problems {
			if p.Line < 0 || p.Line > lines+1 || p.Text == "" || strings.ContainsAny(p.Text, "\n\x1b") {
				t.Errorf("%+v", p)
			}
		}
	})
}
