package rules

import "testing"

func TestIsKeeper(t *testing.T) {
	const connect = "/usr/lib/lamplighter/lamplighter-connect"
	for _, c := range []struct {
		want      bool
		exe, line string
	}{
		{true, connect, "lamplighter-connect|keep|--lifetime|session|--dir|/s/d|--alive|/s/alive.lock|--|/v/bin/serena|start-mcp-server"},
		{true, connect, connect + "|keep|--lifetime|shared|--dir|/s/d|--alive|/s/a|--linger|5|--|uvx|--from|serena-agent|serena"},
		{true, connect, "lamplighter-connect|keep|--|x"},
		{true, `C:\p\lamplighter-connect.exe`, `C:\p\lamplighter-connect.exe|keep|--dir|C:\s|--|C:\v\serena.exe|start-mcp-server`},

		{false, "", "lamplighter-connect|keep|--|x"},
		{false, connect, ""},
		{false, connect, "lamplighter-connect"},
		{false, connect, "lamplighter-connect|keep"},
		{false, connect, "lamplighter-connect|keep|--dir|/s/d|/v/bin/serena"}, // no --
		{false, connect, "lamplighter-connect|keep|--dir|/s/d|--"},            // no command
		{false, connect, "lamplighter-connect|keep|--dir|/s/d|--|"},
		{false, connect, "lamplighter-connect|--|keep|x"}, // wraps a program called keep
		{false, connect, "lamplighter-connect|--|serena|start-mcp-server"},
		{false, connect, "lamplighter-connect|run|keep|--|x"},
		{false, connect, "lamplighter-connect keep -- x"}, // a rewritten title
		{false, connect, "vim|keep|--|x"},
		{false, "/usr/bin/vim", "lamplighter-connect|keep|--|x"},
		{false, "/usr/bin/python3", "python3|lamplighter-connect|keep|--|x"},
		{false, "/home/u/bin/lamplighter-connector", "lamplighter-connector|keep|--|x"},
		{false, "/home/u/lamplighter-connect/run", "run|keep|--|x"},
		{false, "/usr/bin/lamplighter", "lamplighter|keep|--|x"},
	} {
		if got := IsKeeper(c.exe, args(c.line)); got != c.want {
			t.Errorf("%s %s: %v", c.exe, c.line, got)
		}
		if got := IsLauncher(c.exe, args(c.line)); got != c.want {
			t.Errorf("a launcher: %s %s: %v", c.exe, c.line, got)
		}
	}
	// It is never a server, whatever a rule of the user says.
	rule := Rule{Name: "mine", Program: "lamplighter-connect", Arguments: []string{"keep"}}
	if err := rule.Check(); err != nil {
		t.Fatal(err)
	}
	line := args("lamplighter-connect|keep|--dir|/s|--|x")
	if name, ok := New([]Rule{rule}).Match(connect, line); ok {
		t.Errorf("%v is the server %s", line, name)
	}
	if _, ok := New([]Rule{rule}).Match(connect, args("lamplighter-connect|keep")); !ok {
		t.Error("a program of that name that is no keeper is not recognised by the user's rule")
	}
}
