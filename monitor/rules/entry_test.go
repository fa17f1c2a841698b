package rules

import (
	"strings"
	"testing"

	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

func runs(exe string, line string) process.Info {
	return process.Info{Exe: exe, Args: strings.Fields(line)}
}

// What only fits a variable of an entry is not taken for the server, when it is what the
// client starts for itself.
func TestByEntry(t *testing.T) {
	entry := func(name, line string) clients.Entry {
		words := strings.Fields(line)
		return clients.Entry{Client: "vscode", Name: name, Command: words[0], Args: words[1:]}
	}
	mine := entry("mine", "python3 ${workspaceFolder}/server.py")
	for _, c := range []struct {
		process process.Info
		entries []clients.Entry
		want    string
	}{
		{runs("/usr/bin/python3", "python3 /home/u/proj/server.py"), []clients.Entry{mine}, "mine"},
		{runs("/usr/bin/python3", "python3 /home/u/.vscode/extensions/x.y-1/server.py"), []clients.Entry{mine}, ""},
		{runs("/usr/bin/node", "node /b/typescript-language-server --stdio"), []clients.Entry{entry("a", "node ${HOME}/typescript-language-server --stdio")}, ""},
		{runs("/usr/bin/bash", "bash /home/u/plugin/start.sh"), []clients.Entry{entry("plugin", "bash ${CLAUDE_PLUGIN_ROOT}/start.sh")}, "plugin"},
		{runs("/usr/bin/claude", "claude mcp serve"), []clients.Entry{entry("agent", "claude mcp serve")}, "agent"},
		{runs("/b/pg", "/b/pg h"), []clients.Entry{entry("prod", "/b/pg h"), entry("staging", "/b/pg h"), entry("test", "/b/pg h")}, "prod or staging or test"},
		{runs("/usr/bin/node", "npm run mcp"), []clients.Entry{entry("task", "npm run mcp")}, "task"},
		{runs("/usr/bin/make", "make -s mcp-server"), []clients.Entry{entry("task", "make -s mcp-server")}, "task"},
		{runs("/usr/bin/bash", "bash x.sh"), []clients.Entry{entry("x", "bash x.sh")}, ""},
	} {
		found, ok := ByEntry([]process.Info{c.process}, c.entries, "vscode")
		if ok != (c.want != "") || found.Name != c.want {
			t.Errorf("%q: %q, %v", c.process.Args, found.Name, ok)
		}
	}
}
