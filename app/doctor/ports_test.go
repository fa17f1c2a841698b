package doctor

import (
	"errors"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestJudgePort(t *testing.T) {
	jupyter := holder{taken: true, pid: 9, name: "python3 jupyter-lab"}
	ours := holder{taken: true, pid: 7, name: "lamplighter"}
	for name, test := range map[string]struct {
		facts portFacts
		mark  Mark
		want  []string
	}{
		"free":             {portFacts{port: 8888, use: forSessions}, OK, []string{"port 8888, for sessions: it is free"}},
		"ours":             {portFacts{port: 25282, use: forPage, runs: true, pid: 7, holder: ours, page: "http://127.0.0.1:25282/"}, OK, []string{"the background process has it"}},
		"switched off":     {portFacts{use: forSessions}, OK, []string{"switch the port for sessions off"}},
		"page off":         {portFacts{use: forPage}, OK, []string{"switch the global dashboard off"}},
		"Jupyter":          {portFacts{port: 8888, use: forSessions, holder: jupyter, runs: true, pid: 7}, Warn, []string{"python3 jupyter-lab (pid 9) has it", "session_port"}},
		"page elsewhere":   {portFacts{port: 25282, use: forPage, holder: jupyter, runs: true, pid: 7, page: "http://127.0.0.1:25283/x"}, Warn, []string{"served at http://127.0.0.1:25283/x instead"}},
		"page, not seen":   {portFacts{port: 25282, use: forPage, holder: holder{taken: true}, runs: true, pid: 7, page: "http://127.0.0.1:25282/x"}, OK, []string{"it is served there"}},
		"before the start": {portFacts{port: 25282, use: forPage, holder: jupyter}, Warn, []string{"takes the next free port"}},
		"tray manager":     {portFacts{port: 24224, use: forTray, holder: holder{taken: true, pid: 5, name: "python -m serena"}}, Warn, []string{"python -m serena (pid 5)", "finds them by scanning"}},
		"somebody else's":  {portFacts{port: 24224, use: forTray, holder: holder{taken: true}}, Warn, []string{"another user's program"}},
		"not known":        {portFacts{port: 24224, use: forTray, holder: holder{taken: true, err: errors.New("x")}}, Warn, []string{"cannot be told"}},
		"not taken":        {portFacts{port: 8888, use: forSessions, runs: true, pid: 7}, Warn, []string{"nobody has it, although the background process runs"}},
	} {
		line := judgePort(test.facts)
		text := said([]Line{line})
		if line.Mark != test.mark {
			t.Errorf("%s: %s", name, text)
		}
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %s", name, want, text)
			}
		}
	}
}

func TestProgramOf(t *testing.T) {
	for want, in := range map[string]process.Info{
		"nginx":                  {Name: "nginx", Exe: "/usr/sbin/nginx", Args: []string{"nginx: worker"}},
		"python3.12 jupyter-lab": {Name: "python3.12", Exe: "/usr/bin/python3.12", Args: []string{"python3", "-I", "/usr/bin/jupyter-lab", "--no-browser"}},
		"python3 -m http.server": {Name: "python3", Exe: "/usr/bin/python3", Args: []string{"python3", "-m", "http.server", "8888"}},
		"python3":                {Name: "python3", Exe: "/usr/bin/python3", Args: []string{"python3", "-m"}},
		"evil name":              {Identity: monitor.Identity{PID: 1}, Name: "evil\n\x1bname", Exe: "/x"},
	} {
		if got := programOf(in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
