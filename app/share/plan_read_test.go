package share

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		goos, command string
		want          Reading
	}{
		{"linux", "serena start-mcp-server --context ide --project-from-cwd", Reading{Serena: true}},
		{"linux", "uvx --from serena-agent serena start-mcp-server --context claude-code --project /w", Reading{Serena: true}},
		{"linux", "serena-mcp-server --context codex", Reading{Serena: true}},
		{"linux", "uvx --from git+https://github.com/oraios/serena serena start-mcp-server --context=ide --project /w --open-web-dashboard=False", Reading{Serena: true, Page: "false"}},
		{"linux", "serena start-mcp-server --context ide --project-from-cwd --enable-web-dashboard false --open-web-dashboard true", Reading{Serena: true, Page: "false"}},
		{"linux", "serena start-mcp-server --context ide --project . --open-web-dashboard false --open-web-dashboard true", Reading{Serena: true, Page: "true"}},
		{"linux", "uv run serena start-mcp-server --context ide", Reading{Serena: true, Alone: fromTheDir}},
		{"linux", "uv run serena start-mcp-server --open-web-dashboard false", Reading{Serena: true, Alone: fromTheDir, Page: "false"}},
		{"linux", "serena start-mcp-server --context ide -- ./--open-web-dashboard", Reading{Serena: true}},
		{"linux", "serena start-mcp-server --context ide", Reading{Serena: true}},
		{"linux", "serena start-mcp-server --context ide --project ~/w", Reading{Serena: true, Alone: "the project ~/w begins with ~, which nobody replaces by the home directory here (write the whole path)"}},
		{"linux", "serena start-mcp-server --context ide --project ${workspaceFolder}", Reading{Serena: true}}, // which the client replaces
		{"linux", "serena start-mcp-server --transport sse", Reading{Serena: true, Alone: "it is to speak sse, and not stdio with its client"}},
		{"linux", "bash -c serena", Reading{Alone: notSerena}},
		{"linux", "cmd /c serena start-mcp-server --context ide", Reading{Alone: notSerena}},
		{"windows", "cmd /c serena start-mcp-server --context ide --project-from-cwd", Reading{Serena: true}},
		{"linux", "npx -y @modelcontextprotocol/server-filesystem /", Reading{Alone: notSerena}},
		{"linux", "docker run -i ghcr.io/oraios/serena serena start-mcp-server", Reading{Alone: notSerena}},
	} {
		if got := ReadCommand(test.goos, strings.Fields(test.command)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.command, got, test.want)
		}
	}
	if got := ReadCommand("linux", nil); got.Serena || got.Alone == "" {
		t.Errorf("nothing: %+v", got)
	}
}
