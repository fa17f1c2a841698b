package doctor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func verdict(source string, problem launch.Problem, detail string, command ...string) launch.Verdict {
	return launch.Verdict{Candidate: launch.Candidate{Command: command, Source: source}, OK: problem == "", Problem: problem, Detail: detail}
}

func works(version, source string, command ...string) launch.Verdict {
	v := verdict(source, "", "", command...)
	v.Version = version
	return v
}

var offline = launch.Verdict{
	Candidate: launch.Candidate{Command: []string{"/b/uvx", "--from", "serena-agent", "serena"}, Source: "uvx"}, Problem: launch.NotRun, Detail: "A start would download it.",
	Stderr: []string{"error: No solution found", "hint: Packages were unavailable because the network was disabled."},
}

func TestJudgeCandidates(t *testing.T) {
	gone := verdict("PATH", launch.NotFound, "There is no serena.", "serena")
	named := verdict("the settings", launch.NotFound, "There is no x.", "/x/serena")
	own := verdict("the project's own .venv", launch.NotRun, "Not run.", "/p/.venv/bin/serena")
	own.Untrusted = true
	good := works("2.1.0", "uv", "/t/serena")
	for name, test := range map[string]struct {
		verdicts []launch.Verdict
		mark     Mark
		want     []string
	}{
		"works":    {[]launch.Verdict{gone, good, own}, OK, []string{"ok: Serena 2.1.0 starts with /t/serena (uv) for a session on /p", "not needed: serena (PATH): it is not there", "was not run"}},
		"two work": {[]launch.Verdict{good, works("2.0.0", "pipx", "/q/serena")}, OK, []string{"also works: Serena 2.0.0 with /q/serena"}},
		"hangs": {
			[]launch.Verdict{verdict("the directory /net", launch.Silent, "It did not answer.", "serena"), good}, Warn,
			[]string{"warn: serena (the directory /net): It did not answer. | Whatever looks there waits", "take it out of PATH"},
		},
		"unknown version": {[]launch.Verdict{works("", "x", "/t/serena")}, OK, []string{"Serena of an unknown version starts with /t/serena (x) for a session on /p"}},
		"named fails":     {[]launch.Verdict{named, good}, Warn, []string{"warn: /x/serena (the settings): There is no x. | What the settings name is tried first"}},
		"none": {[]launch.Verdict{gone, own}, Broken, []string{"cannot be started for a session on /p: none of 2 ways works, with the environment of us", "belongs to this project",
			`write into the settings: session_command: ["/p/.venv/bin/serena"]`, "broken: serena (PATH): There is no serena.", "warn: /p/.venv"}},
		"nothing":        {nil, Broken, []string{"none of 0 ways works", "Install it: uv tool install"}},
		"to be fetched":  {[]launch.Verdict{gone, offline}, Warn, []string{"uvx would fetch it with the first start", "This check fetches nothing"}},
		"fetched, works": {[]launch.Verdict{offline, good}, OK, []string{"not needed: /b/uvx --from serena-agent serena (uvx): A start would download it."}},
		"old":            {[]launch.Verdict{works("1.7.0", "x", "/t/serena")}, Warn, []string{"Serena 1.7.0 races", "Serena 1.7.0 answers nobody while a tool runs"}},
	} {
		lines := judgeCandidates(serenaFacts{whose: "us", where: "/p", verdicts: test.verdicts})
		if got := worst(lines); got != test.mark {
			t.Errorf("%s: %s, want %s:\n%s", name, got, test.mark, said(lines))
		}
		for _, want := range test.want {
			if !strings.Contains(said(lines), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, said(lines))
			}
		}
		var told, chosen int
		for _, l := range lines {
			if l.Candidate != nil {
				told++
				if l.Candidate.Chosen {
					chosen++
				}
			}
		}
		works := slices.ContainsFunc(test.verdicts, func(v launch.Verdict) bool { return v.OK })
		if told != len(test.verdicts) || (chosen == 1) != works {
			t.Errorf("%s: %d candidates told, %d chosen", name, told, chosen)
		}
	}
	if lines := judgeCandidates(serenaFacts{skipped: errors.New("no room")}); worst(lines) != Warn {
		t.Error(said(lines))
	}
}

// What to do is what the verdict says, and is said once: pip may not change an
// interpreter of the system.
func TestAdviceOfTheVerdict(t *testing.T) {
	const advice = "This Python belongs to the system, and pip will not change it. To install Serena beside it: uv tool install serena-agent"
	v := verdict("Python", launch.ModuleNotFound, "/usr/bin/python3 lacks mcp. "+advice, "/usr/bin/python3")
	v.Advice, v.Stderr = advice, []string{"ModuleNotFoundError: No module named 'mcp'"}
	l := judgeCandidate(serenaFacts{}, v, 0, -1, -1)
	if l.Do != advice || !strings.HasSuffix(l.Text, "lacks mcp.") || strings.Contains(said([]Line{l}), "pip install") {
		t.Errorf("got %+v", l)
	}
}

func TestJudgeRunning(t *testing.T) {
	list := []*view.Server{
		{Kind: monitor.KindSerena, Version: new("2.1.0")}, {Kind: monitor.KindSerena, Version: new("1.5.3")}, {Kind: monitor.KindSerena, Version: new("2.1.0")},
		{Kind: "filesystem"}, {Kind: monitor.KindSerena},
	}
	text := said(judgeRunning(list, false))
	apptest.Contains(t, text, "2 running servers are Serena 2.1.0", "1 running server is Serena 1.5.3", "1 running server has not told", "Serena 1.5.3 races")
	if strings.Index(text, "2.1.0") > strings.Index(text, "1.5.3") {
		t.Errorf("the newest is not first:\n%s", text)
	}
	apptest.Contains(t, said(judgeRunning(nil, false)), "no Serena server runs now")
	apptest.Contains(t, said(judgeRunning(nil, true)), "warn: which servers run is not known")
}

// What a version cannot do is said once, although it is the one to start and runs.
func TestJudgeSerenaSaysALimitationOnce(t *testing.T) {
	running := &view.Server{Kind: monitor.KindSerena, Version: new("2.1.0")}
	text := said(judgeSerena(serenaFacts{verdicts: []launch.Verdict{works("2.1.0", "x", "/s")}, running: []*view.Server{running}}))
	apptest.Contains(t, text, "1 running server is Serena 2.1.0")
	if n := strings.Count(text, "agent interface REPL"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, text)
	}
}

func TestJudgeStarters(t *testing.T) {
	lines := judgeSerena(serenaFacts{verdicts: []launch.Verdict{works("2.1.0", "x", "/s")}, starters: []starter{{"notes", works("", "x", "/usr/bin/node", "x.js")}, {"acme", verdict("x", launch.NotFound, "There is no acme.", "acme")}}})
	apptest.Contains(t, said(lines), "ok: template notes starts /usr/bin/node x.js", "broken: template acme: There is no acme.")
}

// What comes from programs is safe to show in JSON, too.
func TestCandidateIsClean(t *testing.T) {
	v := verdict("PATH", launch.Failed, "a\x1b[1m", "/x\u202e")
	v.Stderr = []string{"b\x07"}
	c := candidate(v, false)
	if c.Command[0] != "/x" || c.Detail != "a[1m" || c.Stderr[0] != "b" || c.SysPath == nil {
		t.Errorf("got %+v", c)
	}
}

func TestLimitations(t *testing.T) {
	for version, want := range map[string]struct {
		mark Mark
		has  []string
	}{
		"":                     {OK, nil},
		"unknown":              {OK, nil},
		"0.1.4":                {Broken, []string{"does not speak MCP over HTTP"}},
		"1.0.0":                {Warn, []string{"does not tell its own version", "cannot register", "several HTTP sessions"}},
		"1.2.0":                {Warn, []string{"several HTTP sessions"}},
		"1.5.0":                {Warn, []string{"behind the tool that runs"}},
		"1.5.3":                {Warn, []string{"behind the tool that runs", "races"}},
		"1.7.0":                {Warn, []string{"races", "answers nobody while a tool runs"}},
		"1.10.0":               {Warn, []string{"answers nobody"}},
		"2.0.0":                {OK, []string{"REPL"}},
		"2.1.0-1a2b3c4d-dirty": {OK, []string{"REPL"}},
	} {
		lines := limitations(version)
		if got := worst(lines); got != want.mark {
			t.Errorf("%s: %s", version, said(lines))
		}
		apptest.Contains(t, said(lines), want.has...)
		remedies := 0
		for _, l := range lines {
			if l.Do != "" {
				remedies++
			}
		}
		if remedies > 1 {
			t.Errorf("%s: the remedy is said %d times", version, remedies)
		}
	}
	if text := said(limitations("1.5.0")); strings.Contains(text, "several HTTP sessions") || strings.Contains(said(limitations("1.10.0")), "races") {
		t.Error("a limitation that is gone is told")
	}
}

func TestJudgeProject(t *testing.T) {
	for name, test := range map[string]struct {
		facts projectFacts
		want  string
	}{
		"not Python":  {projectFacts{}, ""},
		"all there":   {projectFacts{python: true, uvx: true}, ""},
		"no uvx":      {projectFacts{python: true, has313: true}, "there is no uvx"},
		"offline":     {projectFacts{python: true, uvx: true, offline: true}, "uv may not download it"},
		"offline, ok": {projectFacts{python: true, uvx: true, offline: true, has313: true}, ""},
	} {
		lines := judgeProject(test.facts)
		if (test.want == "") != (len(lines) == 0) || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: %s", name, said(lines))
		}
	}
}
