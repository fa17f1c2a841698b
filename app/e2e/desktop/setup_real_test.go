//go:build real && linux

package desktop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

// setsUp runs the verb setup, which has to succeed.
func setsUp(t *testing.T, m *e2e.Manager, dir string, env []string, args ...string) string {
	t.Helper()
	return e2e.Tool(t, dir, env, append([]string{e2e.Program, "setup"}, args...)...)
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
// changed, read back by them, used, and given back byte for byte, with what they
// write meanwhile. The server that they share ends by one order, with its keeper
// and its language server.
func TestSetupWithRealClients(t *testing.T) {
	t.Parallel()
	m, env := e2e.ClientsHome(t)
	project := e2e.NamedProject(t, "alpha")
	codex, gemini := m.Path(".codex", "config.toml"), m.Path(".gemini", "settings.json")

	trusted, err := json.Marshal(map[string]string{project: "TRUST_FOLDER"})
	if err != nil {
		t.Fatal(err)
	}
	m.Write(t, string(trusted), ".gemini", "trustedFolders.json")
	m.Write(t, "# mine\nmodel = \"o5\" # the usual\n", ".codex", "config.toml")
	e2e.Tool(t, project, env, append([]string{"codex", "mcp", "add", "--env", "API_KEY=hidden-value", "serena", "--"}, e2e.SerenaCommand...)...)
	e2e.Tool(t, project, env, append([]string{"gemini", "mcp", "add", "--scope", "user", "serena", e2e.SerenaCommand[0], "--"}, e2e.SerenaCommand[1:]...)...)
	before := map[string]string{codex: contentOf(t, codex), gemini: contentOf(t, gemini)}

	setsUp(t, m, project, env, "--dry-run")
	for path, text := range before {
		if contentOf(t, path) != text {
			t.Fatalf("%s was changed by looking at it", path)
		}
	}
	setsUp(t, m, project, env, "codex", "--yes")
	setsUp(t, m, project, env, "gemini-cli", "--yes")
	apptest.Contains(t, e2e.Tool(t, project, env, "codex", "mcp", "get", "serena"), e2e.ConnectProgram(), "start-mcp-server")

	// They pass on HOME and little else, so that their entries say where lamplighter is.
	share := m.Path("run", "lamplighter", "share.sock")
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
		said = e2e.Tool(t, project, bare, "gemini", "mcp", "list")
		return strings.Contains(said, "Connected")
	})
	inspected := e2e.Tool(t, project, bare, "mcp-inspector", "--cli", "--config", gemini, "--server", "serena", "--connect-timeout", "120000",
		"--method", "tools/call", "--tool-name", "get_symbols_overview", "--tool-arg", "relative_path=own.go")
	apptest.Contains(t, inspected, "of_alpha")
	sharedServersEnd(t, m)

	e2e.Tool(t, project, env, "codex", "mcp", "add", "later", "--", "true")
	setsUp(t, m, project, env, "--undo", "--yes")
	if got := contentOf(t, gemini); got != before[gemini] {
		t.Errorf("%s is now\n%s\nit was\n%s", gemini, got, before[gemini])
	}
	text := contentOf(t, codex)
	apptest.Contains(t, text, "# mine", "# the usual", "[mcp_servers.later]", `command = "serena"`)
	if strings.Contains(text, "lamplighter") {
		t.Errorf("undone: %s", text)
	}
	apptest.Contains(t, e2e.Tool(t, project, env, "codex", "mcp", "list"), "later", "serena")
	if left, err := filepath.Glob(gemini + "?*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// sharedServersEnd orders the end of each server that lamplighter has started:
// nothing of it is left, and lamplighter goes on.
func sharedServersEnd(t *testing.T, m *e2e.Manager) {
	t.Helper()
	tree := func(words ...string) (found []int) {
		for _, word := range words {
			found = append(found, m.Running(word)...)
		}
		return found
	}
	// Clients whose environment differs have servers of their own.
	servers := m.Serenas()
	if len(servers) == 0 || len(m.Shared(t)) != len(servers) || len(tree("gopls")) == 0 || len(tree("--lifetime")) == 0 {
		t.Fatalf("shared are %+v; servers %v, language servers %v, keepers %v", m.Shared(t), servers, tree("gopls"), tree("--lifetime"))
	}
	for _, pid := range servers {
		status, out, said := m.Does(t, "stop", strconv.Itoa(pid))
		if status != 0 {
			t.Errorf("stop: %d, %s%s", status, out, said)
		}
	}
	allEnded(t, func() []int { return tree("start-mcp-server", "gopls", "--lifetime") }, "stopped by the verb")
	if !m.Run.Running() {
		t.Error("lamplighter has ended")
	}
}
