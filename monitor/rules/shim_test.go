package rules

import "testing"

func TestIsShim(t *testing.T) {
	const connect = "/usr/lib/lamplighter/lamplighter-connect"
	for _, c := range []struct {
		want      bool
		exe, line string
	}{
		{true, connect, "lamplighter-connect|connect|--|serena|start-mcp-server"},
		{true, connect, connect + "|connect|--socket|/s|--or-direct|--|uvx|--from|serena-agent|serena|start-mcp-server"},
		{true, connect, "lamplighter-connect|connect|--web-dashboard-global|--|x"},
		{true, `C:\p\lamplighter-connect.exe`, `C:\p\lamplighter-connect.exe|connect|--|C:\v\serena.exe|start-mcp-server`},
		{true, `C:\p\lamplighter.exe`, `C:\p\lamplighter.exe|connect|--|C:\v\serena.exe|start-mcp-server`},

		{true, connect, "lamplighter-connect|connect|serena|start-mcp-server"}, // some clients take the -- away
		{true, connect, "lamplighter-connect|connect|serena"},
		{true, connect, "lamplighter-connect|connect|--web-dashboard-global-port|3000|--idle-shutdown-minutes=5|uvx|--from|x|serena"},

		{true, connect, "lamplighter-connect|own|--|serena|start-mcp-server"},

		{false, `C:\p\lamplighter.exe`, `C:\p\lamplighter.exe|own|--|serena`},
		{false, connect, "lamplighter-connect|own|--"},
		{false, "", "lamplighter-connect|connect|--|x"},
		{false, connect, ""},
		{false, connect, "lamplighter-connect|connect"},
		{false, connect, "lamplighter-connect|connect|--socket|/s|--"}, // no command
		{false, connect, "lamplighter-connect|connect|--socket|/s"},
		{false, connect, "lamplighter-connect|connect|--web-dashboard-global-port|3000|--or-direct"},
		{false, connect, "lamplighter-connect|connect|--socket|--|serena"}, // of which it says so, and ends
		{false, connect, "lamplighter-connect|connect|"},
		{false, connect, "lamplighter-connect|keep|--|connect|x"},
		{false, connect, "lamplighter|connect|--|x"}, // not its name
		{false, "/usr/bin/vim", "lamplighter-connect|connect|--|x"},
		{false, "/usr/bin/python3", "python3|lamplighter-connect|connect|--|x"},
		{false, "/home/u/bin/lamplighter-connector", "lamplighter-connector|connect|--|x"},
	} {
		if got := IsShim(c.exe, args(c.line)); got != c.want {
			t.Errorf("%s %s: %v", c.exe, c.line, got)
		}
		if c.want && IsLauncher(c.exe, args(c.line)) {
			t.Errorf("%s would be ended as a wrapper", c.line)
		}
	}
	// It is never a server, whatever a rule of the user says.
	rule := Rule{Name: "mine", Program: "lamplighter-connect", Arguments: []string{"connect"}}
	if err := rule.Check(); err != nil {
		t.Fatal(err)
	}
	line := args("lamplighter-connect|connect|--|serena|start-mcp-server")
	if name, ok := New([]Rule{rule}).Match(connect, line); ok {
		t.Errorf("%v is the server %s", line, name)
	}
}
