package setup

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor/clients"
)

// bench is a machine with a few programs.
func bench() machine {
	programs := []string{"/opt/lamplighter-connect", "/opt/lamplighter", "/old/lamplighter-connect", "/old/lamplighter", "/bin/serena"}
	return machine{
		goos: "linux", connect: "/opt/lamplighter-connect", pageOpens: true,
		find: func(program string) string {
			switch program {
			case "serena", "uvx", "npx", "bash", "docker", "lamplighter-connect", "lamplighter":
				return "/opt/" + program
			}
			if slices.Contains(programs, filepath.ToSlash(program)) {
				return program
			}
			return ""
		},
		same: func(a, b string) bool { return filepath.ToSlash(a) == filepath.ToSlash(b) },
	}
}

func TestJudge(t *testing.T) {
	const tail = " start-mcp-server --context ide --project-from-cwd"
	const shared = "/opt/lamplighter-connect connect --or-direct -- "
	away := func(m *machine) { m.socket = "/x/s" }
	for _, test := range []struct {
		name    string // of the entry; serena
		command string
		w       Wanted
		closed  bool
		m       func(*machine)

		state   State
		becomes string
		why     string // a part of it
		missing string
		alone   string
		serena  bool
		page    bool // it opens
		unmeant bool
	}{
		{command: "serena" + tail, state: Direct, serena: true, page: true, becomes: shared + "serena" + tail},
		{command: "serena" + tail, w: Wanted{NoPage: true}, state: Direct, serena: true, page: true, becomes: shared + "serena" + tail + " --open-web-dashboard false"},
		{command: "serena" + tail + " --open-web-dashboard false", state: Direct, serena: true, becomes: shared + "serena" + tail + " --open-web-dashboard false"},
		{command: "serena" + tail, m: func(m *machine) { m.pageOpens = false }, state: Direct, serena: true, becomes: shared + "serena" + tail},
		{command: "serena start-mcp-server", state: Direct, serena: true, page: true, becomes: shared + "serena start-mcp-server"},
		{command: "lost" + tail, state: Direct, why: "Whether its command starts Serena is not known", alone: "not a Serena", missing: "lost"},
		{command: "/gone/serena" + tail, state: Direct, serena: true, page: true, missing: "/gone/serena", why: "not found"},
		{command: "~/serena" + tail, state: Direct, serena: true, page: true, missing: "~/serena", why: "not found"},
		{command: "/gone/serena" + tail, w: Wanted{Servers: []string{"serena"}}, state: Direct, serena: true, page: true, missing: "/gone/serena", becomes: shared + "/gone/serena" + tail},
		{command: "${workspaceFolder}/bin/serena" + tail, state: Direct, serena: true, page: true, becomes: shared + `"${workspaceFolder}/bin/serena"` + tail},
		{command: "./serena" + tail, state: Direct, serena: true, page: true, becomes: shared + "./serena" + tail},
		{command: "serena" + tail, closed: true, state: Direct, serena: true, page: true, why: "Others may use this file"},
		{command: "serena" + tail, m: func(m *machine) { m.connect = "" }, state: Direct, serena: true, page: true},

		{command: "/opt/lamplighter-connect connect -- serena" + tail, state: Shared, serena: true},
		{command: "/opt/lamplighter-connect connect -- serena start-mcp-server --project ~/x", state: Shared, serena: true, page: true, alone: "begins with ~"},
		{command: "lamplighter-connect connect -- serena" + tail, state: Shared, serena: true},
		{command: "lamplighter connect serena" + tail, state: Shared, serena: true},
		{command: "/opt/lamplighter connect -- serena" + tail, closed: true, state: Shared, serena: true},
		{command: "/opt/lamplighter-connect connect --or-direct -- serena" + tail, state: Shared, serena: true},
		{command: "/opt/lamplighter-connect connect -- serena" + tail, w: Wanted{NoPage: true}, state: Shared, serena: true, becomes: shared + "serena" + tail + " --open-web-dashboard false"},
		{command: "/opt/lamplighter-connect connect -- serena" + tail, w: Wanted{NoPage: true, Servers: []string{"x"}}, state: Shared, serena: true, unmeant: true},
		{command: "serena" + tail, m: away, state: Direct, serena: true, page: true, becomes: "/opt/lamplighter-connect connect --or-direct --socket /x/s -- serena" + tail},
		{command: "/opt/lamplighter-connect connect --or-direct -- serena" + tail, m: away, state: Shared, serena: true, becomes: "/opt/lamplighter-connect connect --socket /x/s --or-direct -- serena" + tail},
		{command: "/opt/lamplighter-connect connect --socket=/y/s -- serena" + tail, m: away, state: Shared, serena: true, becomes: "/opt/lamplighter-connect connect --or-direct --socket /x/s -- serena" + tail},
		{command: "/old/lamplighter-connect connect --socket /x/s -- serena" + tail, m: away, state: Other, serena: true, becomes: "/opt/lamplighter-connect connect --or-direct --socket /x/s -- serena" + tail},
		{command: "lamplighter-connect connect --socket /x/s -- serena" + tail, m: away, state: Shared, serena: true},
		{command: "lamplighter-connect connect --socket ${S} -- serena" + tail, m: away, state: Shared, serena: true},
		{command: "${HOME}/lamplighter-connect connect -- serena" + tail, m: away, state: Shared, serena: true},
		{command: "/opt/lamplighter-connect connect -- serena" + tail, m: away, closed: true, state: Shared, serena: true, why: "Others may use"},
		{command: "/opt/lamplighter-connect connect --socket /y/s -- serena" + tail, state: Shared, serena: true}, // the usual places do
		{command: "/old/lamplighter-connect connect --or-direct -- serena" + tail, state: Other, serena: true, becomes: "/opt/lamplighter-connect connect --or-direct -- serena" + tail},
		{command: "/old/lamplighter connect serena" + tail, state: Other, serena: true, becomes: shared + "serena" + tail},
		{command: "/gone/lamplighter-connect connect -- npx x", state: Gone, alone: "not a Serena", becomes: shared + "npx x"},
		{command: "/gone/lamplighter-connect connect -- lost", state: Gone, alone: "not a Serena", missing: "lost", becomes: shared + "lost"},
		{command: "/gone/lamplighter-connect connect -- serena" + tail, closed: true, state: Gone, serena: true, why: "Others may use"},
		{command: "${HOME}/lamplighter-connect connect -- serena" + tail, state: Shared, serena: true},
		{command: "lamplighter-connect keep", state: Odd, why: "It runs lamplighter-connect without connect."},

		{command: "npx -y @modelcontextprotocol/server-filesystem /home/u/serena", name: "files", state: Direct, unmeant: true, alone: "not a Serena"},
		{command: "uvx|--from|serena-agent|serena" + strings.ReplaceAll(tail, " ", "|"), state: Odd, why: "Its whole command stands in command"},
		{command: "serena|start-mcp-server", state: Odd, why: "Its whole command stands in command"},
		{command: "/opt/my|programs/serena" + tail, state: Direct, serena: true, page: true, missing: "/opt/my programs/serena", why: "not found"},
		{name: "files", command: "npx x", w: Wanted{Servers: []string{"files"}}, state: Direct, alone: "not a Serena", becomes: shared + "npx x"},
		{command: "bash -c serena|start-mcp-server", state: Direct, why: "through bash, which cannot be shared. Write the command itself, or name the entry, with lamplighter setup --server serena", alone: "not a Serena"},
		{command: "bash -c serena|start-mcp-server", w: Wanted{Servers: []string{"serena"}}, state: Direct, alone: "not a Serena", becomes: shared + `bash -c "serena start-mcp-server"`},
		{command: "docker run -i ghcr.io/oraios/serena:latest serena start-mcp-server", state: Direct, why: "through docker", alone: "not a Serena"},
		{command: "npx -y serena-mcp-server", state: Direct, why: "through npx", alone: "not a Serena", m: nil},
		{command: "env A=b serena start-mcp-server", state: Direct, why: "through env", alone: "not a Serena", missing: "env"},
		{command: "/home/u/start-serena.sh", state: Direct, why: "through a script", alone: "not a Serena", missing: "/home/u/start-serena.sh"},
		{
			command: "cmd /c serena" + tail, m: func(m *machine) { m.goos = "windows" }, state: Direct, serena: true, page: true,
			becomes: shared + "cmd /c serena" + tail,
		},
		{command: "cmd /c lamplighter-connect connect -- serena" + tail, m: func(m *machine) { m.goos = "windows" }, state: Shared, serena: true},
	} {
		m := bench()
		if test.m != nil {
			test.m(&m)
		}
		words := strings.Fields(test.command)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "|", " ")
		}
		if test.name == "" {
			test.name = "serena"
		}
		closed := map[bool]string{true: "Others may use this file."}
		got := m.judge(clients.Server{Path: []string{"mcpServers", test.name}, Line: 3, Command: words[0], Args: words[1:]}, test.w, closed[test.closed])
		switch {
		case got.State != test.state, got.Becomes != test.becomes, got.Serena != test.serena, got.OpensPage != test.page, got.Missing != test.missing, got.meant == test.unmeant && got.State != Odd,
			test.why == "" && got.Why != "", !strings.Contains(got.Why, test.why), test.alone == "" && got.Alone != "", !strings.Contains(got.Alone, test.alone),
			(got.words != nil) != (test.becomes != ""), got.Line != 3, got.Name != test.name:
			t.Errorf("%s %+v: %+v", test.command, test.w, got)
		}
		if got.words == nil {
			continue
		}
		// What is written is left alone the next time.
		again := m.judge(clients.Server{Path: []string{"mcpServers", test.name}, Command: got.words[0], Args: got.words[1:]}, test.w, closed[test.closed])
		if again.State != Shared || again.words != nil || again.Why != "" {
			t.Errorf("%s again: %+v", test.command, again)
		}
	}
}

func TestJudgeWhatIsNotStarted(t *testing.T) {
	m := bench()
	named := Wanted{Servers: []string{"a\x1bb"}}
	remote := clients.Server{Path: []string{"mcpServers", "a\x1bb"}, URL: "https://u:p@h/mcp?key=x", Off: true}
	if got := m.judge(remote, Wanted{}, ""); got.State != Remote || got.Runs != "https://…@h/mcp?key=…" || got.Why != "" || got.meant || !got.Off || got.Name != "ab" {
		t.Errorf("%+v", got)
	}
	if got := m.judge(remote, named, ""); got.Why == "" || !got.meant || got.words != nil {
		t.Errorf("%+v", got)
	}
	odd := clients.Server{Path: []string{"mcpServers", "serena"}, Odd: "its args are no list of strings"}
	if got := m.judge(odd, Wanted{}, ""); got.State != Odd || got.Why != "Its args are no list of strings." || !got.meant || got.words != nil {
		t.Errorf("%+v", got)
	}
	odd.Path[1] = "files"
	if got := m.judge(odd, Wanted{}, ""); got.State != Odd || got.meant {
		t.Errorf("%+v", got)
	}
	if got := m.judge(clients.Server{Path: []string{"mcpServers", "x"}}, Wanted{}, ""); got.State != Odd || got.Why == "" {
		t.Errorf("%+v", got)
	}
}

// A command that is shown can be copied.
func TestWhyQuotesNames(t *testing.T) {
	b := newBed(t)
	path := b.write(cursorFile, `{"mcpServers": {"my serena": {"command": "bash", "args": ["-c", "serena start-mcp-server"]}, "your serena": {"command": "`+inJSON(filepath.Join(b.home, "no", "serena"))+`", "args": ["start-mcp-server"]}}}`)
	for _, name := range []string{"my serena", "your serena"} {
		if e := b.listed(path, name); !strings.Contains(e.Why, `lamplighter setup --server "`+name+`"`) {
			t.Errorf("%+v", e)
		}
	}
}

// NoPage is said to help only where it does.
func TestPageStops(t *testing.T) {
	b := newBed(t)
	alone := strings.ReplaceAll(direct, `"ide"`, `"ide", "--project", "~/x"`)
	for text, want := range map[string]bool{
		strings.ReplaceAll(direct, `"ide"`, `"ide", "--project-from-cwd"`): false, // shared, it opens none
		direct: false,
		alone:  true,
		strings.ReplaceAll(b.shared(), `"ide"`, `"ide", "--project", "~/x"`):                                         true,
		strings.Replace(alone, `"serena", "args"`, `"`+inJSON(filepath.Join(b.home, "no", "serena"))+`", "args"`, 1): false, // left alone
		strings.Replace(alone, `"ide"`, `"ide", "--open-web-dashboard", "false"`, 1):                                 false,
	} {
		path := b.write(cursorFile, text)
		if e := b.listed(path, "serena"); e.PageStops != want {
			t.Errorf("%s: %+v", text, e)
		}
		if e := b.do(Wanted{DryRun: true, NoPage: true}); e.Page {
			t.Errorf("%s: %+v", text, e)
		}
	}
	path := b.write(filepath.Join(b.dir, ".mcp.json"), alone)
	list, err := New(b.o).List(t.Context(), Wanted{Client: "claude-code"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list[0].Files {
		if f.Path == path && (f.Entries[0].PageStops || !f.Entries[0].OpensPage) {
			t.Errorf("a file that is not changed: %+v", f.Entries[0])
		}
	}
}
