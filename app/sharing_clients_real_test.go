//go:build real && linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
)

// clientsHome is a home with the clients of MCP that work without an account on
// its PATH.
func clientsHome(t *testing.T) (m *manager, env []string) {
	t.Helper()
	m = sharingHome(t)
	return m, withClients(t, m.env)
}

// withClients is an environment with these clients on its PATH.
func withClients(t *testing.T, of []string) (env []string) {
	t.Helper()
	tools := serenatest.Tools(t)
	for _, kv := range of {
		if path, is := strings.CutPrefix(kv, "PATH="); is {
			kv = "PATH=" + strings.Join([]string{filepath.Join(tools, "node", "bin"), filepath.Join(tools, "clients", "node_modules", ".bin"), path}, ":")
		}
		env = append(env, kv)
	}
	return env
}

// tool runs a client's program to its end.
func tool(t *testing.T, dir string, env []string, line ...string) string {
	t.Helper()
	program, err := exec.Command("env", append(slices.Clone(env), "sh", "-c", "command -v "+line[0])...).Output()
	if err != nil {
		t.Fatalf("%s is not there: %v", line[0], err)
	}
	cmd := exec.CommandContext(t.Context(), strings.TrimSpace(string(program)), line[1:]...)
	cmd.Env, cmd.Dir = env, dir
	var said apptest.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %v\n%s%s", line, err, out, said.String())
	}
	return string(out) + said.String()
}

// TestSharingWithRealClients: clients that people use take the shim for the
// server.
func TestSharingWithRealClients(t *testing.T) {
	t.Parallel()
	m, env := clientsHome(t)
	project := namedProject(t, "alpha")
	// They pass on little of the environment, and nobody has a /run/user here.
	line := append([]string{connectProgram(), "connect", "--socket", m.path("run", "lamplighter", "share.sock"), "--"}, serenaCommand...)

	listed := tool(t, project, env, append(append([]string{"mcp-inspector", "--cli"}, line...), "--connect-timeout", "120000", "--method", "tools/list")...)
	apptest.Contains(t, listed, "get_symbols_overview")

	tool(t, project, env, append([]string{"codex", "mcp", "add", "serena", "--"}, line...)...)
	apptest.Contains(t, tool(t, project, env, "codex", "mcp", "list"), "lamplighter-connect")

	trusted, err := json.Marshal(map[string]string{project: "TRUST_FOLDER"})
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, string(trusted), ".gemini", "trustedFolders.json")
	settings, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"serena": map[string]any{"command": line[0], "args": line[1:]}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(project, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, ".gemini", "settings.json"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	// It gives a server 5 s, which the first start may need on a busy machine.
	apptest.Eventually(t, "Gemini CLI is connected", func() bool { return strings.Contains(tool(t, project, env, "gemini", "mcp", "list"), "Connected") })

	script := filepath.Join(m.dir, "client.py")
	if err := programtest.WriteFile(script, []byte(pythonClient), 0o600); err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	apptest.Contains(t, tool(t, project, env, append([]string{python, "-I", script, project}, line...)...), "greet", "serena_tools")
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
