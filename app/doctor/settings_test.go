package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/config"
)

func TestJudgeOurs(t *testing.T) {
	wrong := &config.FileError{Path: "/c.yaml", Problems: []config.Problem{{Line: 3, Text: `unknown setting "x"`}, {Text: "is larger than 64 KiB"}}}
	for name, test := range map[string]struct {
		facts settingsFacts
		mark  Mark
		want  []string
	}{
		"none":     {settingsFacts{path: "/c.yaml"}, OK, []string{"there is no settings file /c.yaml"}},
		"right":    {settingsFacts{path: "/c.yaml", exists: true}, OK, []string{"the settings in /c.yaml are right"}},
		"no place": {settingsFacts{}, Warn, []string{"no place"}},
		"wrong":    {settingsFacts{path: "/c.yaml", exists: true, wrong: wrong}, Broken, []string{`broken: /c.yaml:3: unknown setting "x"`, "broken: /c.yaml: is larger"}},
		"failed":   {settingsFacts{path: "/c.yaml", wrong: errors.New("oh")}, Broken, []string{"oh"}},
	} {
		lines := judgeOurs(test.facts)
		if worst(lines) != test.mark {
			t.Errorf("%s: %s", name, said(lines))
		}
		for _, want := range test.want {
			if !strings.Contains(said(lines), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, said(lines))
			}
		}
	}
}

func TestJudgeSerenas(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		mark Mark
		want string
	}{
		"template":    {"web_dashboard: True\nweb_dashboard_open_on_launch:\nprojects: []\n", Warn, "opens a page of its own"},
		"quiet":       {"web_dashboard_open_on_launch: false\n", OK, "can be read"},
		"tray":        {"web_dashboard_interface: tray_manager\n", OK, "can be read"},
		"no page":     {"web_dashboard: false\n", Warn, "switch its dashboard off"},
		"odd value":   {"web_dashboard: [1]\n", Warn, "opens a page of its own"},
		"broken":      {"projects: [a\nx: 1\n", Broken, ": this is not valid YAML: "},
		"our mistake": {"web_dashboard_open_on_launch: false\nweb_dashboard_global_port: 1\n", Broken, ":2: web_dashboard_global_port"},
		"empty":       {"", Warn, "opens a page of its own"},
		"long line":   {"a: " + strings.Repeat("x", 9000), Warn, "opens a page of its own"},
	} {
		home := t.TempDir()
		path := filepath.Join(home, config.SerenaFile)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, serenas := config.NewSerenaWatcher(home, nil).Load()
		lines := judgeSerenas(settingsFacts{serenaPath: path, serenas: serenas, file: config.ReadSerenaPage(path)})
		if worst(lines) != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, said(lines))
		}
	}
	if lines := judgeSerenas(settingsFacts{}); len(lines) != 0 {
		t.Errorf("without a place: %s", said(lines))
	}
	none := filepath.Join(t.TempDir(), config.SerenaFile)
	if lines := judgeSerenas(settingsFacts{serenaPath: none, file: config.ReadSerenaPage(none)}); worst(lines) != OK || !strings.Contains(said(lines), "no settings yet") {
		t.Errorf("none: %s", said(lines))
	}
	for _, file := range []config.SerenaPage{config.ReadSerenaPage(t.TempDir()), {Exists: true, Err: &fs.PathError{Err: syscall.EACCES}}} {
		if lines := judgeSerenas(settingsFacts{serenaPath: "/s.yml", file: file}); worst(lines) != Broken || !strings.Contains(said(lines), "cannot be read") {
			t.Errorf("unreadable: %s", said(lines))
		}
	}
}
