package launch

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

const traceback = `Traceback (most recent call last):
  File "<string>", line 1, in <module>
ModuleNotFoundError: No module named 'serena'
`

func TestJudge(t *testing.T) {
	script := Candidate{Command: []string{"/v/bin/serena"}}
	module := Candidate{Command: []string{"py", "-m", "serena.mcp"}}
	uvx := Candidate{Command: []string{"/b/uvx", "--from", "serena-agent", "serena"}}
	python := &interpreter{Executable: "/py/bin/python3", Version: "3.12.1", Path: []string{"/py/lib", "/py/site"}, Pip: true}
	has := func(change func(*interpreter)) *interpreter {
		p := *python
		change(&p)
		return &p
	}
	for _, test := range []struct {
		name    string
		hearing hearing
		problem Problem
		version string
		says    []string
	}{
		{
			name: "works", hearing: hearing{candidate: script, outcome: outcome{stdout: "Serena 2.1.0-ccb895f3\n"}},
			version: "2.1.0", says: []string{"Serena 2.1.0"},
		},
		{
			name:    "works, with noise before",
			hearing: hearing{candidate: script, outcome: outcome{stdout: "Downloading…\r\nSerena 1.5.3\r\n", stderr: "Installed 40 packages"}},
			version: "1.5.3",
		},
		{
			name: "too old", hearing: hearing{candidate: script, python: python, outcome: outcome{stdout: "Serena 0.1.4\n"}},
			problem: WrongVersion, version: "0.1.4", says: []string{"Serena 0.1.4", "1.0.0", "/py/bin/python3 -m pip install --upgrade serena-agent"},
		},
		{
			name: "something else", hearing: hearing{candidate: script, outcome: outcome{stdout: "serena 3.0 (a window manager)\n"}},
			problem: WrongVersion, says: []string{"not Serena", "a window manager"},
		},
		{
			name: "says nothing", hearing: hearing{candidate: script},
			problem: WrongVersion, says: []string{"not Serena", "it printed nothing."},
		},
		{
			name: "hangs", hearing: hearing{candidate: script, asked: asking(script.Command), limit: 15 * time.Second, outcome: outcome{timedOut: true, stdout: "Serena 2.1.0"}},
			problem: TimedOut, says: []string{"/v/bin/serena --version", "15 s", "was ended"},
		},
		{
			name: "a download hangs", hearing: hearing{candidate: uvx, asked: asking(uvx.Command), limit: time.Minute, outcome: outcome{timedOut: true}},
			problem: TimedOut, says: []string{"in a terminal: /b/uvx --from serena-agent serena --version"},
		},
		{
			name: "a download is not made to look", hearing: hearing{
				candidate: uvx, asked: asking(uvx.Command), offline: true,
				outcome: outcome{code: 1, stderr: "hint: Packages were unavailable because the network was disabled."},
			},
			problem: NotRun, says: []string{"would download it"},
		},
		{
			name:    "the module is in another interpreter",
			hearing: hearing{candidate: module, asked: asking(module.Command), python: python, outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound,
			says:    []string{"/py/bin/python3 (Python 3.12.1)", `"serena"`, "/py/lib, /py/site", "/py/bin/python3 -m pip install serena-agent"},
		},
		{
			name: "as -m says it",
			hearing: hearing{candidate: module, asked: asking(module.Command), python: python, outcome: outcome{
				code: 1, stderr: "/py/bin/python3: Error while finding module specification for 'serena.mcp' (ModuleNotFoundError: No module named 'serena')",
			}},
			problem: ModuleNotFound, says: []string{"not installed for it"},
		},
		{
			name: "without pip",
			hearing: hearing{candidate: module, python: has(func(p *interpreter) { p.Pip, p.Executable = false, "/a b/python" }),
				outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound, says: []string{`uv pip install --python "/a b/python" serena-agent`},
		},
		{
			name:    "a Python of the system",
			hearing: hearing{candidate: module, python: has(func(p *interpreter) { p.Managed = true }), outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound, says: []string{"uv tool install serena-agent", "belongs to the system"},
		},
		{
			name:    "a tool of uv that lost its packages",
			hearing: hearing{candidate: module, python: has(func(p *interpreter) { p.UV = true }), outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound, says: []string{"uv tool install --reinstall serena-agent"},
		},
		{
			name:    "one of pipx",
			hearing: hearing{candidate: module, python: has(func(p *interpreter) { p.Pipx = true }), outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound, says: []string{"pipx reinstall serena-agent"},
		},
		{
			name:    "an old Python",
			hearing: hearing{candidate: module, python: has(func(p *interpreter) { p.Version = "3.9.18" }), outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound, says: []string{"3.9.18 is too old", "3.11"},
		},
		{
			name:    "an old Python that has no -P",
			hearing: hearing{candidate: script, python: has(func(p *interpreter) { p.Version = "3.10.1" }), outcome: outcome{code: 2, stderr: "Unknown option: -P\nusage: …"}},
			problem: WrongVersion, says: []string{"Python 3.10.1", "3.11"},
		},
		{
			name:    "what Serena needs is missing",
			hearing: hearing{candidate: script, python: python, outcome: outcome{code: 1, stderr: strings.ReplaceAll(traceback, "serena", "mcp.server")}},
			problem: ModuleNotFound, says: []string{`lacks the module "mcp.server"`, "--force-reinstall serena-agent"},
		},
		{
			name:    "a relative PYTHONPATH",
			hearing: hearing{candidate: module, python: python, pythonPath: "src:/abs", outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound, says: []string{"PYTHONPATH has src,"},
		},
		{
			name:    "a PYTHONPATH into the project",
			hearing: hearing{candidate: module, python: python, pythonPath: "/p/src", leftOut: []string{"/p/src"}, outcome: outcome{code: 1, stderr: traceback}},
			problem: ModuleNotFound, says: []string{"PYTHONPATH has /p/src, which lies in the project and is left out"},
		},
		{
			name: "a module of Serena that is none",
			hearing: hearing{candidate: module, python: has(func(p *interpreter) { p.Serena, p.Script = "2.1.0", "/py/bin/serena" }),
				outcome: outcome{code: 1, stderr: "/py/bin/python3: No module named serena.mcp_server"}},
			problem: ModuleNotFound, says: []string{"Serena 2.1.0", "serena.mcp_server", "here /py/bin/serena"},
		},
		{
			name: "-m serena",
			hearing: hearing{candidate: module, python: has(func(p *interpreter) { p.Serena, p.Script = "2.1.0", "/py/bin/serena" }),
				outcome: outcome{code: 1, stderr: "/py/bin/python3: No module named serena.__main__; 'serena' is a package and cannot be directly executed"}},
			problem: Failed, says: []string{"starts nothing", "here /py/bin/serena"},
		},
		{
			name:    "-m serena.mcp where Serena is installed",
			hearing: hearing{candidate: module, asked: asking(module.Command), python: has(func(p *interpreter) { p.Script = "/py/bin/serena" })},
			problem: Failed, says: []string{"ends without a word", "here /py/bin/serena"},
		},
		{
			name:    "a Serena without --version",
			hearing: hearing{candidate: script, python: has(func(p *interpreter) { p.Serena = "1.0.0" }), outcome: outcome{code: 2, stderr: "Error: No such option: --version"}},
			version: "1.0.0",
		},
		{
			name:    "an old Serena without --version",
			hearing: hearing{candidate: script, python: has(func(p *interpreter) { p.Serena = "0.1.4" }), outcome: outcome{code: 2, stderr: "Error: No such option: --version"}},
			problem: WrongVersion, version: "0.1.4",
		},
		{
			name:    "something without --version",
			hearing: hearing{candidate: script, outcome: outcome{code: 2, stderr: "Error: No such option: --version"}},
			problem: WrongVersion, says: []string{"does not know --version"},
		},
		{
			name: "a shim of pyenv",
			hearing: hearing{candidate: script, outcome: outcome{
				code: 127, stderr: "pyenv: serena: command not found\n\nThe `serena' command exists in these Python versions:\n  3.12.1\n",
			}},
			problem: NotFound, says: []string{"3.12.1", "pyenv global"},
		},
		{
			name:    "anything else",
			hearing: hearing{candidate: script, asked: asking(script.Command), outcome: outcome{code: -1, ended: "signal: segmentation fault", stderr: "one\ntwo\n"}},
			problem: Failed, says: []string{"signal: segmentation fault; it said: two."},
		},
		{
			name:    "fails without a word",
			hearing: hearing{candidate: script, asked: asking(script.Command), outcome: outcome{code: 1, ended: "exit status 1"}},
			problem: Failed, says: []string{"failed with exit status 1; it printed nothing."},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.hearing.asked == nil {
				test.hearing.asked = asking(test.hearing.candidate.Command)
			}
			v := judge(test.hearing)
			if v.Problem != test.problem || v.OK != (test.problem == NoProblem) || v.Version != test.version {
				t.Errorf("got problem %q, OK %t, version %q: %s", v.Problem, v.OK, v.Version, v.Detail)
			}
			apptest.Contains(t, v.Detail, test.says...)
			if v.Problem == ModuleNotFound && !strings.HasSuffix(v.Detail, " "+v.Advice) {
				t.Errorf("the advice %q is not the end of %q", v.Advice, v.Detail)
			}
			if v.Problem == ModuleNotFound && !slices.Equal(v.SysPath, python.Path) {
				t.Errorf("sys.path is %q", v.SysPath)
			}
		})
	}
}

// A relative folder is put behind the directory in which an interpreter runs,
// and that may be the top.
func TestPathOfAnInterpreter(t *testing.T) {
	p := parseInterpreter(`{"executable": "/py", "path": ["//src", "/py/lib/"]}`)
	if want := []string{filepath.Clean("//src"), filepath.Clean("/py/lib/")}; p == nil || !slices.Equal(p.Path, want) {
		t.Errorf("got %+v", p)
	}
}

func TestLastSaid(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want []string
	}{
		{"", 3, nil},
		{"\n \n\t\n", 3, nil},
		{"a\nb\n\nc", 2, []string{"b", "c"}},
		{"10%\r50%\r100%\r\nend\r\n", 3, []string{"100%", "end"}},
		{"\x1b[31mred\u202e", 1, []string{"[31mred"}},
	} {
		if got := lastSaid(test.text, test.n); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q", test.text, got)
		}
	}
	long := lastSaid(strings.Repeat("x", 1<<20), 1)
	if len(long) != 1 || len([]rune(long[0])) > mostLine {
		t.Errorf("a long line became %d lines of %d", len(long), len(long[0]))
	}
}

func TestParseShebang(t *testing.T) {
	for _, test := range []struct{ head, want string }{
		{"", ""},
		{"MZ\x90", ""},
		{"#!", ""},
		{"#!/v/bin/python3\nimport sys", "/v/bin/python3"},
		{"#! /usr/bin/env python3\n", "/usr/bin/env"},
		{"#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''", "/a b/bin/python"},
		{"#!/bin/sh\n'''exec' /a/bin/python \"$0\" \"$@\"\n' '''", "/a/bin/python"},
		{"#!/bin/sh\necho", "/bin/sh"},
		{"#!/v/bin/python3", "/v/bin/python3"},
	} {
		if got := parseShebang([]byte(test.head)); got != test.want {
			t.Errorf("%q: got %q, want %q", test.head, got, test.want)
		}
	}
}

func FuzzForeignOutput(f *testing.F) {
	f.Add(traceback, "mark")
	f.Add(" -V:3.12 *        C:\\Python312\\python.exe\r\n", "x")
	f.Add("\nx\n/bin:/usr/bin\nx\n", "x")
	f.Add(`{"executable":"/x","path":["a"]}`, "x")
	f.Add("#!/bin/sh\n'''exec' \"/a b\"", "x")
	f.Fuzz(func(t *testing.T, text, marker string) {
		judge(hearing{candidate: Candidate{Command: []string{"x"}}, asked: []string{"x", "--version"}, outcome: outcome{stdout: text, stderr: text, code: len(text) % 3}})
		parseInterpreter(text)
		parseShebang([]byte(text))
		relativeEntries(text)
		splitPath("windows", text)
		splitPath("linux", text)
		for _, p := range parseLauncher(text) {
			if !strings.HasSuffix(strings.ToLower(p), ".exe") {
				t.Errorf("%q is no program", p)
			}
		}
		if value, ok := answered(text, marker); ok && value == "" {
			t.Error("an empty PATH is an answer")
		}
		for _, line := range lastSaid(text, 3) {
			if strings.ContainsAny(line, "\x1b\n\r") {
				t.Errorf("%q is not fit to show", line)
			}
		}
	})
}

func TestMissingModule(t *testing.T) {
	for want, lines := range map[string][]string{
		"serena":     {"x", "ModuleNotFoundError: No module named 'serena'"},
		"mcp.types":  {"No module named 'serena'", "ModuleNotFoundError: No module named 'mcp.types'"},
		"serena.mcp": {"python: No module named serena.mcp"},
		"":           {"Segmentation fault"},
	} {
		if got := MissingModule(strings.Join(lines, "\n")); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
