//go:build real && linux

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// setsUp runs the verb setup, which has to succeed.
func (m *manager) setsUp(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	return tool(t, dir, env, append([]string{binary, "setup"}, args...)...)
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSetupWithRealClients: what Codex and Gemini CLI have written themselves is
// changed, read back by them, used, and given back byte for byte.
func TestSetupWithRealClients(t *testing.T) {
	t.Parallel()
	m, env := clientsHome(t)
	project := namedProject(t, "alpha")
	codex, gemini := m.path(".codex", "config.toml"), m.path(".gemini", "settings.json")

	trusted, err := json.Marshal(map[string]string{project: "TRUST_FOLDER"})
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, string(trusted), ".gemini", "trustedFolders.json")
	tool(t, project, env, append([]string{"codex", "mcp", "add", "--env", "API_KEY=hidden-value", "serena", "--"}, serenaCommand...)...)
	tool(t, project, env, "codex", "mcp", "add", "elsewhere", "--url", "https://mcp.example/")
	tool(t, project, env, append([]string{"gemini", "mcp", "add", "--scope", "user", "serena", serenaCommand[0], "--"}, serenaCommand[1:]...)...)
	before := map[string]string{codex: contentOf(t, codex), gemini: contentOf(t, gemini)}

	listed := m.setsUp(t, project, env, "--list")
	apptest.Contains(t, listed, "Codex", "Gemini CLI", "direct", "serena start-mcp-server", "elsewhere")
	diff := m.setsUp(t, project, env, "--dry-run")
	apptest.Contains(t, diff, "\n-command = \"serena\"", "\n+command = \""+connectProgram()+"\"")
	for _, text := range []string{listed, diff} {
		if strings.Contains(text, "hidden-value") {
			t.Errorf("it shows a secret: %s", text)
		}
	}
	for path, text := range before {
		if contentOf(t, path) != text {
			t.Fatalf("%s was changed by looking at it", path)
		}
	}

	m.setsUp(t, project, env, "codex")
	m.setsUp(t, project, env, "gemini-cli")
	apptest.Contains(t, m.setsUp(t, project, env, "--list"), "shared")
	apptest.Contains(t, tool(t, project, env, "codex", "mcp", "list"), connectProgram(), "elsewhere")
	apptest.Contains(t, tool(t, project, env, "codex", "mcp", "get", "serena"), connectProgram(), "start-mcp-server")

	// They pass on HOME and little else, so that their entries say where lamplighter is.
	share := m.path("run", "lamplighter", "share.sock")
	for path := range before {
		apptest.Contains(t, contentOf(t, path), `"--socket"`, `"`+share+`"`)
	}
	bare := slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "XDG_RUNTIME_DIR=") })

	// It gives a server 5 s, which the first start may need on a busy machine.
	var said string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Gemini CLI says %s", said)
		}
	})
	apptest.Eventually(t, "Gemini CLI is connected", func() bool {
		said = tool(t, project, bare, "gemini", "mcp", "list")
		return strings.Contains(said, "Connected")
	})
	inspected := tool(t, project, bare, "mcp-inspector", "--cli", "--config", gemini, "--server", "serena", "--connect-timeout", "120000", "--method", "tools/list")
	apptest.Contains(t, inspected, "get_symbols_overview")
	// What else they pass on of their environment differs, and with it the server.
	if len(m.shared(t)) == 0 {
		t.Error("no server is shared")
	}

	undone := m.setsUp(t, project, env, "--undo")
	for path, text := range before {
		if got := contentOf(t, path); got != text {
			t.Errorf("%s is now\n%s\nit was\n%s\nit said %s", path, got, text, undone)
		}
	}
	for path := range before {
		if left, err := filepath.Glob(path + "?*"); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	apptest.Contains(t, tool(t, project, env, "codex", "mcp", "list"), "serena")
	if strings.Contains(tool(t, project, env, "codex", "mcp", "list"), connectProgram()) {
		t.Error("Codex still runs the shim")
	}
}

// TestSetupBesideACodexThatWrites: what the client writes between setup and its
// undo is kept.
func TestSetupBesideACodexThatWrites(t *testing.T) {
	t.Parallel()
	m := serenaHome(t)
	env := withClients(t, m.env)
	project := namedProject(t, "beta")
	path := m.path(".codex", "config.toml")
	m.write(t, "# mine\nmodel = \"o5\" # the usual\n", ".codex", "config.toml")
	tool(t, project, env, append([]string{"codex", "mcp", "add", "serena", "--"}, serenaCommand...)...)
	m.setsUp(t, project, env, "codex")
	tool(t, project, env, "codex", "mcp", "add", "later", "--", "true")
	m.setsUp(t, project, env, "codex", "--undo")
	text := contentOf(t, path)
	apptest.Contains(t, text, "# mine", "# the usual", "[mcp_servers.later]", `command = "serena"`)
	if strings.Contains(text, "lamplighter") {
		t.Errorf("undone: %s", text)
	}
	apptest.Contains(t, tool(t, project, env, "codex", "mcp", "list"), "later", "serena")
}

// TestSetupOfAFile: a file of the usual shape that is nobody's, with comments and
// the line ends of Windows, which MCP Inspector then reads.
func TestSetupOfAFile(t *testing.T) {
	t.Parallel()
	m, env := clientsHome(t)
	project := namedProject(t, "gamma")
	args, err := json.Marshal(serenaCommand[1:])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(project, "servers.json")
	text := strings.ReplaceAll("{\n  \"mcpServers\": {\n    \"serena\": {\n      \"args\": "+string(args)+",\n      \"command\": \"serena\"\n    }\n  }\n}\n", "\n", "\r\n")
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o640), os.Chmod(file, 0o640)); err != nil {
		t.Fatal(err)
	}
	m.setsUp(t, project, env, "--file", "servers.json")
	if changed := contentOf(t, file); strings.Count(changed, "\r\n") != strings.Count(changed, "\n") || !strings.Contains(changed, connectProgram()) {
		t.Errorf("%q", changed)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	inspected := tool(t, project, env, "mcp-inspector", "--cli", "--config", file, "--server", "serena", "--connect-timeout", "120000", "--method", "tools/list")
	apptest.Contains(t, inspected, "get_symbols_overview")
	m.setsUp(t, project, env, "--file", "servers.json", "--undo")
	if got := contentOf(t, file); got != text {
		t.Errorf("%q, it was %q", got, text)
	}
}
