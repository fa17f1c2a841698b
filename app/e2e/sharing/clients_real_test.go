//go:build real && linux

package sharing

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
)

// Clients that people use take the shim for the server.
func (s shared) realClients(t *testing.T) {
	env, project := e2e.WithClients(t, s.Env), s.harbour
	// They pass on little of the environment, and nobody has a /run/user here. With
	// the same one they share the server of the other clients.
	line := append([]string{"env"}, slices.DeleteFunc(slices.Clone(s.Env), func(kv string) bool { return strings.HasPrefix(kv, "XDG_") })...)
	line = append(append(line, e2e.ConnectProgram(), "connect", "--socket", s.Path("run", "lamplighter", "share.sock"), "--"), e2e.SerenaCommand...)

	listed := e2e.Tool(t, project, env, append(append([]string{"mcp-inspector", "--cli"}, line...), "--connect-timeout", "120000", "--method", "tools/list")...)
	apptest.Contains(t, listed, "get_symbols_overview")

	e2e.Tool(t, project, env, append([]string{"codex", "mcp", "add", "serena", "--"}, line...)...)
	apptest.Contains(t, e2e.Tool(t, project, env, "codex", "mcp", "list"), "lamplighter-connect")

	trusted, err := json.Marshal(map[string]string{project: "TRUST_FOLDER"})
	settings, errSettings := json.Marshal(map[string]any{"mcpServers": map[string]any{"serena": map[string]any{"command": line[0], "args": line[1:]}}})
	if err := errors.Join(err, errSettings, os.Mkdir(filepath.Join(project, ".gemini"), 0o700),
		os.WriteFile(filepath.Join(project, ".gemini", "settings.json"), settings, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.Write(t, string(trusted), ".gemini", "trustedFolders.json")
	// It gives a server 5 s, which a busy machine may miss.
	apptest.Eventually(t, "Gemini CLI is connected", func() bool { return strings.Contains(e2e.Tool(t, project, env, "gemini", "mcp", "list"), "Connected") })

	script := filepath.Join(s.Dir, "client.py")
	if err := programtest.WriteFile(script, []byte(pythonClient), 0o600); err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	apptest.Contains(t, e2e.Tool(t, project, env, append([]string{python, "-I", script, project}, line...)...), "greet", "serena_tools")
	s.only(t, project)
}

// pythonClient uses MCP's own SDK for Python.
const pythonClient = `
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
import os

async def main():
    server = StdioServerParameters(command=sys.argv[2], args=sys.argv[3:], cwd=sys.argv[1], env=dict(os.environ))
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            print("serena_tools", len((await session.list_tools()).tools))
            answer = await session.call_tool("get_symbols_overview", {"relative_path": "main.go"})
            print(answer.content[0].text)

asyncio.run(main())
`
