package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the documentation of each client shows is found where its place says.
func TestDocumentedSettings(t *testing.T) {
	type entry struct {
		path    string
		command string // with the arguments; "" for an address
	}
	const uvx = " --from git+https://github.com/oraios/serena serena start-mcp-server"
	for _, test := range []struct {
		file, client string
		scope        Scope
		base         string // of the path of its place
		want         []entry
	}{
		{"claude-code.json", "claude-code", User, ".claude.json", []entry{
			{"projects /home/ada/engine mcpServers serena", "serena start-mcp-server --context claude-code --project /home/ada/engine"},
			{"mcpServers serena", "serena start-mcp-server --context claude-code --project-from-cwd"},
			{"mcpServers notion", ""},
		}},
		{"claude-code-project.json", "claude-code", Project, ".mcp.json", []entry{
			{"mcpServers serena", "uvx" + uvx + " --context claude-code --project ."},
			{"mcpServers api-server", ""},
		}},
		{"claude-desktop.json", "claude-desktop", User, "claude_desktop_config.json", []entry{
			{"mcpServers serena", "/Users/ada/.local/bin/uvx" + uvx},
			{"mcpServers filesystem", "npx -y @modelcontextprotocol/server-filesystem /Users/ada/Desktop /Users/ada/Downloads"},
		}},
		{"claude-desktop-windows.json", "claude-desktop", User, "claude_desktop_config.json", []entry{
			{"mcpServers serena", `C:\Users\ada\.local\bin\serena.exe start-mcp-server`},
			{"mcpServers filesystem", `cmd /c npx -y @modelcontextprotocol/server-filesystem C:\Users\ada\Desktop`},
		}},
		{"codex.toml", "codex", User, "config.toml", []entry{
			{"mcp_servers serena", "serena start-mcp-server --project-from-cwd --context=codex"},
			{"mcp_servers written", "serena start-mcp-server --context=codex"},
			{"mcp_servers docs", "npx -y mcp-server"},
			{"mcp_servers figma", ""},
		}},
		{"codex-project.toml", "codex", Project, "config.toml", []entry{
			{"mcp_servers serena", "uvx" + uvx + " --context=codex"},
		}},
		{"cursor.json", "cursor", User, "mcp.json", []entry{
			{"mcpServers serena", "uvx" + uvx + " --context ide --project ${workspaceFolder}"},
			{"mcpServers server-name", ""},
		}},
		{"vscode-mcp.json", "vscode", User, "mcp.json", []entry{
			{"servers serena", "serena start-mcp-server --context=vscode --project ${workspaceFolder}"},
			{"servers perplexity", "npx -y server-perplexity-ask"},
			{"servers context7", ""},
		}},
		{"vscode-mcp.json", "vscode", Project, "mcp.json", []entry{
			{"servers serena", "serena start-mcp-server --context=vscode --project ${workspaceFolder}"},
			{"servers perplexity", "npx -y server-perplexity-ask"},
			{"servers context7", ""},
		}},
		{"vscode-settings.json", "vscode", User, "settings.json", []entry{
			{"mcp servers serena", "serena start-mcp-server --context=vscode"},
		}},
		{"gemini.json", "gemini-cli", User, "settings.json", []entry{
			{"mcpServers serena", "serena start-mcp-server --context ide"},
			{"mcpServers pythonTools", "python -m my_mcp_server --port 8080"},
			{"mcpServers httpServer", ""},
		}},
		{"gemini.json", "gemini-cli", Project, "settings.json", []entry{
			{"mcpServers serena", "serena start-mcp-server --context ide"},
			{"mcpServers pythonTools", "python -m my_mcp_server --port 8080"},
			{"mcpServers httpServer", ""},
		}},
	} {
		t.Run(test.file+" "+string(test.scope), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", test.file))
			if err != nil {
				t.Fatal(err)
			}
			all := placesWith("linux", "/home/ada", "/src", env(), disk())
			i := slices.IndexFunc(all, func(p Place) bool {
				return p.Client == test.client && p.Scope == test.scope && filepath.Base(p.Path) == test.base
			})
			if i < 0 {
				t.Fatal("there is no such place")
			}
			settings, err := all[i].Format.Decode(bytes.TrimPrefix(text, []byte("\uFEFF")), all[i].Tables)
			if err != nil {
				t.Fatal(err)
			}
			var got []entry
			for _, table := range all[i].Tables {
				for _, e := range serversIn(settings, nil, table) {
					if e.Odd != "" {
						t.Errorf("%q is odd: %s", e.Path, e.Odd)
					}
					if (e.Command == "") == (e.URL == "") {
						t.Errorf("%q has the command %q and the address %q", e.Path, e.Command, e.URL)
					}
					got = append(got, entry{strings.Join(e.Path, " "), strings.Join(append([]string{e.Command}, e.Args...), " ")})
				}
			}
			byPath := func(a, b entry) int { return strings.Compare(a.path, b.path) }
			slices.SortFunc(got, byPath)
			slices.SortFunc(test.want, byPath)
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

// Every file of testdata has its source named.
func TestSourcesAreNamed(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("testdata", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != "README.md" && !f.IsDir() && !strings.Contains(string(readme), "| "+f.Name()+" |") {
			t.Errorf("testdata/README.md does not say where %s is from", f.Name())
		}
	}
}
