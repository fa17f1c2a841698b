package launch

import (
	"slices"
	"strings"
	"testing"
)

func TestServerArgs(t *testing.T) {
	v := values{port: 1234, portFile: "/s/port", project: "/p {port}"}
	serena := Template{Name: "serena", Arguments: []string{"--context", "ide", "--agent-interface", "tools", "--mode", "a"}}
	const start = "start-mcp-server --transport streamable-http --host 127.0.0.1 --port 0 --project /p {port} --open-web-dashboard false "
	sse := serena
	sse.Transport = SSE
	joined := Template{Name: "serena", Arguments: []string{"--agent-interface=tools"}}
	other := Template{Name: "other", Arguments: []string{"--port={port}", "{project}", "{port_file}", "{other}"}}
	for _, test := range []struct {
		t       Template
		command string
		version string
		want    string
	}{
		{serena, "serena", "2.1.0", start + "--context ide --agent-interface tools --mode a"},
		{serena, "serena", "", start + "--context ide --agent-interface tools --mode a"},
		{serena, "serena", "1.7.0", start + "--context ide --mode a"},
		{sse, "serena", "1.5.3", strings.Replace(start, "streamable-http", "sse", 1) + "--context ide --mode a"},
		{joined, "serena", "1.7.0", strings.TrimSpace(start)},
		{serena, "/x/serena start-mcp-server", "2.1.0", strings.TrimPrefix(start, "start-mcp-server ") + "--context ide --agent-interface tools --mode a"},
		{serena, "uvx serena start-mcp-server --log-level INFO", "1.7.0", strings.TrimPrefix(start, "start-mcp-server ") + "--context ide --mode a"},
		{other, "start-mcp-server", "", "--port=1234 /p {port} /s/port {other}"},
	} {
		if got := strings.Join(serverArgs(&test.t, strings.Fields(test.command), test.version, v), " "); got != test.want {
			t.Errorf("%s %s:\n%s\n%s", test.t.Name, test.version, got, test.want)
		}
	}
	env := templateEnv(&Template{Env: map[string]string{"B": "{port}", "A": "x"}}, v)
	if want := []string{"A=x", "B=1234"}; !slices.Equal(env, want) {
		t.Errorf("%q", env)
	}
}

func TestTemplates(t *testing.T) {
	u := Template{Command: []string{"a", "{port}"}, Arguments: []string{"-x{project}"}, Env: map[string]string{"A": "{port_file}"}}
	for _, mark := range []string{portMark, portFileMark, projectMark} {
		if !u.uses(mark) {
			t.Error(mark)
		}
		if (&Template{Command: []string{"a"}}).uses(mark) {
			t.Error("nothing uses " + mark)
		}
	}
	for _, test := range []struct{ transport, path, want string }{
		{"", "", "/mcp"}, {StreamableHTTP, "", "/mcp"}, {SSE, "", "/sse"}, {SSE, "/x", "/x"},
	} {
		if got := (&Template{Transport: test.transport, Path: test.path}).path(); got != test.want {
			t.Errorf("%v: %s", test, got)
		}
	}
}

func TestTemplatesMeantAsTheyStand(t *testing.T) {
	u := Template{
		Name: "serena", Command: []string{"a", "{port}"}, Arguments: []string{"{project}"}, Env: map[string]string{"A": "{port_file}", "C": "c"},
		Unset: []string{"B", "C"}, Literal: true,
	}
	for _, mark := range []string{portMark, portFileMark, projectMark} {
		if u.uses(mark) {
			t.Error(mark)
		}
	}
	v := values{port: 1234, portFile: "/s/port", project: "/p", literal: true}
	if got := strings.Join(serverArgs(&u, u.Command, "2.1.0", v), " "); !strings.HasSuffix(got, " --project /p --open-web-dashboard false {project}") {
		t.Error(got)
	}
	if got := templateEnv(&u, v); !slices.Equal(got, []string{"A={port_file}", "C=c"}) {
		t.Errorf("%q", got)
	}
	if got := u.unset([]string{"A={port_file}", "B=b", "BB=b", "C=c"}); !slices.Equal(got, []string{"A={port_file}", "BB=b", "C=c"}) {
		t.Errorf("%q", got)
	}
}

func TestOrdersThatCannotBeCarriedOut(t *testing.T) {
	good := Spec{Template: Template{Name: "serena"}, Project: absolutePath, Lifetime: Session}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Spec){
		"no lifetime":     func(s *Spec) { s.Lifetime = "long" },
		"not an absolute": func(s *Spec) { s.Project = "x" },
		"zero byte":       func(s *Spec) { s.Project += "\x00" },
		"no name":         func(s *Spec) { s.Template.Name = "" },
		"no command":      func(s *Spec) { s.Template.Name = "other" },
		"no transport":    func(s *Spec) { s.Template.Transport = "stdio" },
		"does not begin":  func(s *Spec) { s.Template.Path = "mcp" },
	} {
		bad := good
		change(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
