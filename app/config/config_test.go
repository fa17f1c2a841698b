package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want Settings
	}{
		"empty":           {"", Default()},
		"comments":        {"# nothing\n\n", Default()},
		"null document":   {"~\n", Default()},
		"icon":            {"tray_icon: hidden\n", Settings{TrayIcon: TrayIconHidden}},
		"both":            {"log_level: debug\ntray_icon: dark\n", Settings{TrayIcon: TrayIconDark, LogLevel: LogLevel(slog.LevelDebug)}},
		"CRLF":            {"log_level: warn\r\ntray_icon: light\r\n", Settings{TrayIcon: TrayIconLight, LogLevel: LogLevel(slog.LevelWarn)}},
		"byte order mark": {"\ufefflog_level: error\n", Settings{TrayIcon: TrayIconAuto, LogLevel: LogLevel(slog.LevelError)}},
		"quoted":          {"'tray_icon': \"dark\" # as the panel\n", Settings{TrayIcon: TrayIconDark}},
		"document marks":  {"%YAML 1.2\n---\ntray_icon: dark\n...\n", Settings{TrayIcon: TrayIconDark}},
		"flow":            {"{tray_icon: dark}\n", Settings{TrayIcon: TrayIconDark}},
		"no newline":      {"tray_icon: dark", Settings{TrayIcon: TrayIconDark}},
		"tab after colon": {"tray_icon:\tdark\n", Settings{TrayIcon: TrayIconDark}},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := parse([]byte(test.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		line int
		want string // part of the problem
	}{
		"unknown":       {"# mine\n\ntray_icn: dark\n", 3, `unknown setting "tray_icn"; did you mean "tray_icon"?`},
		"dashes":        {"log-level: info\n", 1, `did you mean "log_level"?`},
		"far off":       {"colour_of_money: 1\n", 1, "known are tray_icon, log_level, servers"},
		"wrong word":    {"log_level: info\ntray_icon: purple\n", 2, `tray_icon: "purple" is not one of auto, light, dark, hidden`},
		"wrong type":    {"log_level: 7\n", 1, `log_level: "7" is not one of debug, info, warn, error`},
		"boolean":       {"tray_icon: true\n", 1, `"true" is not one of`},
		"list":          {"tray_icon: [dark]\n", 1, "tray_icon wants one plain value"},
		"mapping":       {"tray_icon:\n  dark: yes\n", 2, "tray_icon wants one plain value"},
		"anchor":        {"tray_icon: &a dark\n", 1, "one plain value"},
		"no value":      {"tray_icon:\n", 1, "tray_icon has no value"},
		"twice":         {"tray_icon: dark\nlog_level: info\ntray_icon: light\n", 3, "already defined"},
		"merge key":     {"<<: {tray_icon: dark}\n", 1, "unknown setting"},
		"complex key":   {"? tray_icon\n: dark\n", 1, "unknown setting"},
		"tab":           {"log_level: info\n\ttray_icon: dark\n", 2, "starts with a tab"},
		"spaces, tab":   {"log_level:\n  \tinfo\n", 2, "starts with a tab"},
		"NUL":           {"tray_icon: dark\x00\n", 1, "control character 0x00"},
		"binary":        {"\x7fELF\x02\x01\x01", 1, "control character 0x7f"},
		"not UTF-8":     {"log_level: info\n# caf\xe9\n", 2, "byte 0xe9 is not UTF-8"},
		"UTF-16":        {"\xff\xfet\x00", 1, "UTF-16"},
		"C1":            {"tray_icon: \u009bdark\n", 1, "control character 0x9b"},
		"list at top":   {"- tray_icon\n", 1, "name: value"},
		"word at top":   {"hello\n", 1, "name: value"},
		"two documents": {"tray_icon: dark\n---\nlog_level: info\n", 3, "second document"},
		"open quote":    {"tray_icon: 'dark\n", 1, "single-quoted"},
		"open bracket":  {"tray_icon: [\n", 1, "sequence end"},
		"deep":          {"tray_icon: " + strings.Repeat("[", 60000), 1, "too many brackets"},
		"bidi name":     {"tray\u202eicon: dark\n", 1, `unknown setting "trayicon"; did you mean "tray_icon"?`},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := parse([]byte(test.text))
			if len(problems) != 1 {
				t.Fatalf("want one problem, got %+v", problems)
			}
			if problems[0].Line != test.line || !strings.Contains(problems[0].Text, test.want) {
				t.Errorf("got %+v, want line %d and %q", problems[0], test.line, test.want)
			}
			if !reflect.DeepEqual(got, Default()) {
				t.Errorf("settings %+v are not the defaults", got)
			}
		})
	}
}

func TestParseTellsEveryProblem(t *testing.T) {
	_, problems := parse([]byte("tray_icn: dark\nlog_level: loud\ntray_icon: dark\n"))
	err := &FileError{Path: "config.yaml", Problems: problems}
	const want = `config.yaml:1: unknown setting "tray_icn"; did you mean "tray_icon"?; ` +
		`config.yaml:2: log_level: "loud" is not one of debug, info, warn, error`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestFileErrorStaysShort(t *testing.T) {
	_, problems := parse([]byte("a: 1\nb: 1\nc: 1\nd: 1\ne: 1\n"))
	text := (&FileError{Path: "x", Problems: problems}).Error()
	if !strings.HasSuffix(text, "; and 2 more") || strings.Count(text, "unknown setting") != 3 {
		t.Error(text)
	}
	lines := (&FileError{Path: "x", Problems: problems}).Lines()
	if len(lines) != 4 || !strings.HasPrefix(lines[1], `x:2: unknown setting "b"`) || lines[3] != "and 2 more" {
		t.Errorf("%q", lines)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := put("good.yaml", "tray_icon: hidden\n")
	belowFile := "not a directory"
	if runtime.GOOS == "windows" { // which does not tell this from a missing one
		belowFile = "there is no such file"
	}
	for name, test := range map[string]struct {
		path     string
		required bool
		want     string // part of the error; empty: none
	}{
		"good":             {good, true, ""},
		"no place":         {"", false, ""},
		"missing, default": {filepath.Join(dir, "none.yaml"), false, ""},
		"missing, named":   {filepath.Join(dir, "none.yaml"), true, "none.yaml: there is no such file"},
		"a directory":      {dir, false, "is a directory"},
		"below a file":     {filepath.Join(good, "x.yaml"), true, belowFile},
		"a device":         {os.DevNull, false, "is a device, not a file"},
		"10 MB":            {put("big.yaml", strings.Repeat("# filler\n", 10<<20/9)), false, "larger than 64 KiB"},
		"broken":           {put("bad.yaml", "\n\ntray_icn: x\n"), false, "bad.yaml:3: unknown setting"},
		"NUL in the path":  {"a\x00b", true, "invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			settings, err := Load(test.path, test.required)
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var file *FileError
			if !errors.As(err, &file) {
				t.Fatalf("got %v, want a *FileError", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want %q in it", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
			if !reflect.DeepEqual(settings, Default()) {
				t.Errorf("settings %+v are not the defaults", settings)
			}
		})
	}
	if settings, _ := Load(good, true); settings.TrayIcon != TrayIconHidden {
		t.Errorf("got %+v", settings)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"tray_icon", "log_level"}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		at := rapid.IntRange(0, len(name)-1).Draw(t, "at")
		swap := rapid.IntRange(0, len(name)-2).Draw(t, "swap")
		letter := rapid.StringMatching("[a-z]").Draw(t, "letter")
		for _, misspelt := range []string{
			name[:at] + name[at+1:], name[:at] + letter + name[at:], name[:at] + letter + name[at+1:], strings.ToUpper(name),
			name[:swap] + name[swap+1:swap+2] + name[swap:swap+1] + name[swap+2:],
		} {
			if got := Nearest(misspelt, names); got != name {
				t.Errorf("%q is nearest to %q, got %q", misspelt, name, got)
			}
		}
		if got := Nearest(rapid.StringMatching("[0-9]{0,100}").Draw(t, "other"), names); got != "" {
			t.Errorf("got %q", got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "tray_icon: dark\n", "tray_icn: x\n", "a: [1, {b: c}]\n", "\t", "---\n...\n", "? [a]\n: b", "&a *a", "!!binary x",
		"a: |\n x\n", "'", "\xff\xfe", "<<: *x\n", "a:\n- b\n-", "%TAG ! x\n", "tray_icon: !!str dark", "\ufeff\ufeff",
		"servers:\n- name: notes\n  program: node\n  arguments: [notes/index.js]\n", "servers: [{name: git, disabled: true}, {name: x}]\n",
		"servers:\n- &a {name: x}\n- *a\n- <<: *a\n", "servers: [[]]\n", "servers:\n  -\n  - ~\n  - |\n    x\n", "servers: {a: b}\n",
		"session_port: 0\nsession_limit: 200\nsession_start_seconds: 1\nsession_transport: sse\nsession_server: notes\n" +
			"templates:\n- {name: notes, command: [notes, '{port}'], path: /mcp, directory: '{project}', env: {A: b, C: '{port_file}'}}\n",
		"session_command: [uvx, serena]\nsession_arguments: []\n", "session_command: ['']\n", "session_arguments: [--port=1, '{prot}', \"\\0\"]\n",
		"templates: [{name: x, command: [y], env: {'': ~, A=B: 1, <<: *x, ? [a] : b}}]\n", "templates: [{name: serena}, {command: z}]\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxSize {
			return
		}
		settings, problems := parse(text)
		if len(problems) > 0 && !reflect.DeepEqual(settings, Default()) {
			t.Errorf("a broken file gave %+v", settings)
		}
		checkSessions(t, settings.Sessions())
		for _, p := range problems {
			if p.Line < 0 || p.Text == "" || strings.ContainsAny(p.Text, "\n\x1b\x00") {
				t.Errorf("problem %d %q", p.Line, p.Text)
			}
		}
	})
}
