package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// usual is what holds where the file says nothing.
func usual() Sessions {
	return Sessions{
		Port: 8888, Limit: 20, StartLimit: 10 * time.Second, Server: "serena",
		Serena: Serena{Transport: "streamable-http", Arguments: []string{"--context", "desktop-app", "--agent-interface", "tools"}},
	}
}

// elsewhere is a whole path of this system, as it is written in the file.
func elsewhere() string {
	if runtime.GOOS == "windows" {
		return `C:\srv\notes`
	}
	return "/srv/notes"
}

func TestParseSessions(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want func(*Sessions)
	}{
		"nothing": {"", func(*Sessions) {}},
		"numbers": {"session_port: 9000\nsession_limit: 200\nsession_start_seconds: 300\n", func(s *Sessions) {
			s.Port, s.Limit, s.StartLimit = 9000, 200, 5*time.Minute
		}},
		"the least": {"session_port: 1024\nsession_limit: 1\nsession_start_seconds: 1\n", func(s *Sessions) { s.Port, s.Limit, s.StartLimit = 1024, 1, time.Second }},
		"no port":   {"session_port: 0\n", func(s *Sessions) { s.Port = 0 }},
		"transport": {"session_transport: sse\n", func(s *Sessions) { s.Serena.Transport = SSE }},
		"command":   {"session_command: [uvx, --from, serena-agent==2.1.0, serena]\n", func(s *Sessions) { s.Serena.Command = []string{"uvx", "--from", "serena-agent==2.1.0", "serena"} }},
		"with its verb": {"session_command: [/opt/serena, start-mcp-server, --log-level, DEBUG]\n", func(s *Sessions) {
			s.Serena.Command = []string{"/opt/serena", "start-mcp-server", "--log-level", "DEBUG"}
		}},
		"project of uv":  {"session_command: [uv, run, --project, /src/serena, serena]\n", func(s *Sessions) { s.Serena.Command = []string{"uv", "run", "--project", "/src/serena", "serena"} }},
		"a path":         {"session_command: [/opt/my tools/serena]\n", func(s *Sessions) { s.Serena.Command = []string{"/opt/my tools/serena"} }},
		"arguments":      {"session_arguments: [--context, agent, --tool-timeout, 1.50]\n", func(s *Sessions) { s.Serena.Arguments = []string{"--context", "agent", "--tool-timeout", "1.50"} }},
		"no arguments":   {"session_arguments: []\n", func(s *Sessions) { s.Serena.Arguments = []string{} }},
		"Serena by name": {"session_server: serena\n", func(*Sessions) {}},
		"a template": {
			"session_server: notes\ntemplates:\n  - name: notes\n    command: [node, my-notes.js, --port, \"{port}\"]\n",
			func(s *Sessions) {
				s.Server = "notes"
				s.Templates = []Template{{Name: "notes", Command: Command{"node", "my-notes.js", "--port", "{port}"}, Transport: StreamableHTTP, Path: "/mcp"}}
			},
		},
		"all of a template": {
			"templates:\n- name: Acme docs\n  command: [acme, '--write-port={port_file}', '{project}/docs', '{0} {} {\"a\": 1}']\n  transport: sse\n" +
				"  path: /api/mcp\n  directory: '" + elsewhere() + "'\n  env:\n    ACME_ROOT: '{project}'\n    DEBUG: 1\n    MODE: true\n    EMPTY: ''\n",
			func(s *Sessions) {
				s.Templates = []Template{{
					Name: "Acme docs", Command: Command{"acme", "--write-port={port_file}", "{project}/docs", `{0} {} {"a": 1}`},
					Transport: SSE, Path: "/api/mcp", Directory: elsewhere(),
					Env: Environment{"ACME_ROOT": "{project}", "DEBUG": "1", "MODE": "true", "EMPTY": ""},
				}}
			},
		},
		"a path by transport, no port": {
			"templates: [{name: a, command: [a], transport: sse, directory: '{project}'}, {name: b, command: [b], env: {}}]\n",
			func(s *Sessions) {
				s.Templates = []Template{
					{Name: "a", Command: Command{"a"}, Transport: SSE, Path: "/sse", Directory: "{project}"},
					{Name: "b", Command: Command{"b"}, Transport: StreamableHTTP, Path: "/mcp", Env: Environment{}},
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			settings, problems := parse([]byte(test.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			want := usual()
			test.want(&want)
			if got := settings.Sessions(); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			checkSessions(t, settings.Sessions())
		})
	}
}

// checkSessions checks what whoever starts servers relies on.
func checkSessions(t interface{ Errorf(string, ...any) }, s Sessions) {
	if s.Port != 0 && (s.Port < 1024 || s.Port > 65535) || s.Limit < 1 || s.Limit > 200 || s.StartLimit < time.Second || s.StartLimit > 5*time.Minute {
		t.Errorf("out of bounds: %+v", s)
	}
	if _, ok := s.Template(s.Server); !ok && s.Server != "serena" {
		t.Errorf("nothing is called %q", s.Server)
	}
	if s.Serena.Command != nil && (len(s.Serena.Command) == 0 || s.Serena.Command[0] == "") {
		t.Errorf("command %q", s.Serena.Command)
	}
	if s.Serena.Transport != StreamableHTTP && s.Serena.Transport != SSE {
		t.Errorf("transport %q", s.Serena.Transport)
	}
	names := make(map[string]bool)
	for _, template := range s.Templates {
		key := template.Key()
		if names[key] || key == "" || key == "serena" || len(template.Command) == 0 || template.Command[0] == "" ||
			!strings.HasPrefix(template.Path, "/") || template.Transport != StreamableHTTP && template.Transport != SSE {
			t.Errorf("template %+v", template)
		}
		names[key] = true
	}
}

func TestParseRefusesSessions(t *testing.T) {
	template := func(more string) string { return "templates:\n- name: notes\n  command: [notes]\n" + more }
	many := "templates:\n- name: notes\n  command: [notes]\n  env:\n"
	for i := range maxItems + 1 {
		many += fmt.Sprintf("    N%d: x\n", i)
	}
	for name, test := range map[string]struct {
		text string
		line int
		want string // part of the problem
	}{
		"unknown":             {"session_prt: 1\n", 1, `unknown setting "session_prt"; did you mean "session_port"?`},
		"dashes":              {"session-start-seconds: 1\n", 1, `did you mean "session_start_seconds"?`},
		"port below":          {"session_port: 80\n", 1, `session_port: "80" is not a port from 1024 to 65535, or 0 for none`},
		"port above":          {"\nsession_port: 65536\n", 2, `"65536" is not a port`},
		"port word":           {"session_port: off\n", 1, `"off" is not a port`},
		"limit 0":             {"session_limit: 0\n", 1, `session_limit: "0" is not a whole number from 1 to 200`},
		"limit above":         {"session_limit: 201\n", 1, "from 1 to 200"},
		"limit half":          {"session_limit: 2.5\n", 1, `"2.5" is not a whole number`},
		"limit list":          {"session_limit: [1]\n", 1, "session_limit wants one plain value"},
		"seconds":             {"session_start_seconds: 10s\n", 1, `session_start_seconds: "10s" is not a whole number from 1 to 300`},
		"seconds below":       {"session_start_seconds: -1\n", 1, "from 1 to 300"},
		"transport":           {"session_transport: stdio\n", 1, `session_transport: "stdio" is not one of streamable-http, sse`},
		"command is a word":   {"session_command: serena\n", 1, "session_command wants a list"},
		"command empty":       {"session_command: []\n", 1, "session_command: is empty; write the program"},
		"command blank":       {"tray_icon: dark\nsession_command: [' ', x]\n", 2, "session_command: begins with an empty entry; write the program first"},
		"command in one":      {"session_command: [uvx --from serena-agent serena]\n", 1, "write each word as an entry of its own: [uvx, --from, serena-agent, serena]"},
		"command NUL":         {"session_command: [\"a\\0b\"]\n", 1, "holds a NUL character"},
		"command long":        {"session_command: [" + strings.Repeat("a", 5000) + "]\n", 1, "longer than 4096 bytes"},
		"command no value":    {"session_command:\n", 1, "session_command has no value"},
		"command port":        {"session_command: [serena, --port, '1']\n", 1, "session_command: holds --port; remove it, every session gets a free port"},
		"command host":        {"session_command: [/opt/serena, start-mcp-server, --host=::1]\n", 1, "session_command: holds --host; remove it"},
		"command project":     {"session_command: [uvx, serena, start-mcp-server, --project, /p]\n", 1, "holds --project; remove it, who asks for a session names the project"},
		"command transport":   {"session_command: [uvx, --from, serena-agent, serena, --transport, sse]\n", 1, "holds --transport; remove it and use session_transport"},
		"command stray":       {"session_command: [serena, start-mcp-server, --context, ide, /p]\n", 1, `holds "/p", which belongs to no option`},
		"command twice":       {"session_command: [serena, start-mcp-server, start-mcp-server]\n", 1, "holds start-mcp-server twice"},
		"argument half":       {"session_arguments: [--context]\n", 1, `ends with "--context"; add its value`},
		"argument stray":      {"session_arguments: [--context, agent, /p]\n", 1, `holds "/p", which belongs to no option`},
		"argument transport":  {"session_arguments: [--transport, sse]\n", 1, "session_arguments: holds --transport; remove it and use session_transport"},
		"argument port":       {"session_arguments:\n- --context\n- agent\n- --port=9000\n", 2, "holds --port; remove it, every session gets a free port"},
		"argument project":    {"session_arguments: [--project-from-cwd]\n", 1, "holds --project-from-cwd; remove it, who asks for a session names the project"},
		"argument page":       {"session_arguments: [--open-web-dashboard, true]\n", 1, "holds --open-web-dashboard; remove it"},
		"argument verb":       {"session_arguments: [start-mcp-server]\n", 1, "it is part of the command"},
		"argument group":      {"session_arguments: [{a: b}]\n", 1, "session_arguments wants one plain value"},
		"argument misspelt":   {"session_arguments: ['{projct}']\n", 1, `unknown placeholder "{projct}"; did you mean {project}?`},
		"server unknown":      {"log_level: info\nsession_server: notes\n", 2, `session_server: no template is called "notes"; add one under templates:, or write one of "serena"`},
		"server misspelt":     {"session_server: ntoes\n" + template(""), 1, `no template is called "ntoes"; did you mean "notes"?`},
		"server in capitals":  {"session_server: Serena\n", 1, `did you mean "serena"?`},
		"server among others": {template("") + "session_server: weather\n", 4, `write one of "serena", "notes"`},
		"no name":             {"templates:\n- command: [x]\n", 2, "templates: has no name; add name:"},
		"no command":          {"templates:\n\n- name: x\n", 3, "templates: has no command; add command:"},
		"empty command":       {"templates:\n- name: x\n  command: ['']\n", 3, "templates: command: begins with an empty entry; write the program first"},
		"no words":            {"templates:\n- name: x\n  command: []\n", 3, "templates: command: is empty"},
		"Serena":              {"templates:\n- command: [x]\n  name: Serena\n", 3, "templates: name: Serena needs no template; use session_command"},
		"name twice":          {template("- {name: Notes, command: [b]}\n"), 4, `templates: "notes" stands on line 2 already`},
		"name long":           {"templates:\n- name: " + strings.Repeat("x", 41) + "\n  command: [x]\n", 2, "longer than 40 columns"},
		"name with escapes":   {"templates:\n- name: \"a\\e[1m\"\n  command: [x]\n", 2, "cannot be shown"},
		"placeholder":         {"templates:\n- name: x\n  command: [x, '--port={prot}']\n", 3, `templates: command: unknown placeholder "{prot}"; did you mean {port}?`},
		"placeholder dashed":  {"templates:\n- name: x\n  command: [x, '{port-file}']\n", 3, "did you mean {port_file}?"},
		"placeholder other":   {"templates:\n- name: x\n  command: [x, '{workspace}']\n", 3, `unknown placeholder "{workspace}"; known are {port}, {port_file}, {project}`},
		"unquoted":            {"templates:\n- name: x\n  command: [x, {port}]\n", 3, "templates: command wants one plain value"},
		"template transport":  {template("  transport: http\n"), 4, `templates: transport: "http" is not one of`},
		"path":                {template("  path: mcp\n"), 4, `templates: path: "mcp" does not begin with one /`},
		"path of an address":  {template("  path: //host/mcp\n"), 4, "does not begin with one /"},
		"path with a query":   {template("  path: /mcp?x\n"), 4, "does not belong into a path"},
		"path long":           {template("  path: /" + strings.Repeat("x", 256) + "\n"), 4, "longer than 256 bytes"},
		"directory":           {template("  directory: docs\n"), 4, `templates: directory: "docs" is not a whole path`},
		"directory misspelt":  {template("  directory: '{projet}'\n"), 4, "did you mean {project}?"},
		"env is a list":       {template("  env: [A=b]\n"), 4, "templates: env wants lines of the form name: value"},
		"env no value":        {template("  env:\n    A:\n"), 5, `templates: env: "A" has no value`},
		"env group":           {template("  env:\n    A: {b: c}\n"), 5, `templates: env: "A" wants one plain value`},
		"env name":            {template("  env:\n    A: b\n    C=D: e\n"), 6, `templates: env: "C=D": is no name of a variable`},
		"env without name":    {template("  env:\n    '': e\n"), 5, "is no name of a variable"},
		"env of ours":         {template("  env:\n    Lamplighter_Launch: e\n"), 5, "are Lamplighter's own"},
		"env NUL":             {template("  env:\n    A: \"x\\0\"\n"), 5, "holds a NUL character"},
		"env placeholder":     {template("  env:\n    A: '{ports}'\n"), 5, "did you mean {port}?"},
		"env twice":           {template("  env:\n    A: b\n    A: c\n"), 6, "already defined"},
		"env many":            {many, 5, "templates: env has 101 entries; 100 are allowed"},
		"unknown in template": {template("  transprt: sse\n"), 4, `templates: unknown setting "transprt"; did you mean "transport"?`},
		"list of words":       {"templates:\n- notes\n", 2, "templates wants lines of the form name: value"},
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

// One port is opened once, whoever says which it is.
func TestPortBesideTheDashboards(t *testing.T) {
	for text, want := range map[string]int{
		"":                                0,
		"session_port: 9000\n":            9000,
		"session_port: 8888\n":            0,
		"session_port: 0\n":               0,
		"web_dashboard_global_port: 9000": 8888,
		"web_dashboard_global_port: 9000\nsession_port: 9000":                              0,
		"web_dashboard_global: false\n":                                                    8888,
		"web_dashboard_global: false\nweb_dashboard_global_port: 9000\nsession_port: 9000": 9000,
	} {
		settings, problems := parse([]byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		port := Port(8888)
		dashboard := Layers(settings.Layer, Layer{WebDashboardGlobalPort: &port}) // what Serena's file says
		if got := settings.Sessions().PortBeside(dashboard); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := (Sessions{Port: DefaultPort}).PortBeside(Layers()); got != 0 {
		t.Errorf("the default of the global dashboard: %d", got)
	}
}

func TestTemplateByName(t *testing.T) {
	s := Sessions{Templates: []Template{{Name: "a", Path: "/a"}, {Name: "b", Path: "/b"}}}
	if got, ok := s.Template("b"); !ok || got.Path != "/b" {
		t.Errorf("got %+v, %v", got, ok)
	}
	if got, ok := s.Template("serena"); ok {
		t.Errorf("got %+v", got)
	}
}

// A misspelt placeholder is found wherever it stands, and a known one never is.
func TestPlaceholders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		around := rapid.StringMatching(`[ -z]{0,20}`) // neither { nor }
		before, after := around.Draw(t, "before"), around.Draw(t, "after")
		name := rapid.SampledFrom(placeholders).Draw(t, "name")
		if err := checkWord(before + "{" + name + "}" + after); err != nil {
			t.Error(err)
		}
		other := rapid.StringMatching(`[a-z][a-z_]{0,10}`).Filter(func(s string) bool { return s != "port" && s != "port_file" && s != "project" }).Draw(t, "other")
		if err := checkWord(before + "{" + other + "}" + after); err == nil || strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("{%s}: %v", other, err)
		}
	})
}

// What is said of sessions is news as all else is, also deep in a template.
func TestReloadSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	const first = "templates: [{name: notes, command: [notes], env: {A: b}}]\n"
	write(t, path, first)
	w := newWatched(t, path, false)
	if _, err := w.Load(); err != nil {
		t.Fatal(err)
	}
	w.serve()
	next := func(want string) {
		t.Helper()
		select {
		case n := <-w.news:
			if got := fmt.Sprint(n.settings.Sessions().Templates, n.err); !strings.Contains(got, want) {
				t.Errorf("told %s, want %s", got, want)
			}
		case <-time.After(deadline):
			t.Fatalf("no news of %s", want)
		}
	}
	replace(t, path, strings.Replace(first, "A: b", "A: c", 1))
	next("A:c")
	replace(t, path, "session_server: ntes\n"+first)
	next(`did you mean "notes"?`)
}
