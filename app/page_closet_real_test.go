//go:build real && linux

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/setup"
)

// wardrobe is the real part behind the routes, which a test can have fail, wait
// or find nothing.
type wardrobe struct {
	*setup.Setup

	mu     sync.Mutex
	broken bool
	bare   bool
	hold   chan struct{} // nil: a look does not wait
	looks  int
}

func (w *wardrobe) List(ctx context.Context, wanted setup.Wanted) ([]setup.Client, error) {
	w.mu.Lock()
	w.looks++
	broken, bare, hold := w.broken, w.bare, w.hold
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	if broken {
		return nil, errors.New("the list of programs cannot be read; try again")
	}
	list, err := w.Setup.List(ctx, wanted)
	if bare {
		for i := range list {
			for j := range list[i].Files {
				list[i].Files[j] = setup.File{Path: list[i].Files[j].Path, Scope: setup.User}
			}
		}
	}
	return list, err
}

func (w *wardrobe) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// looked is how often somebody looked so far.
func (w *wardrobe) looked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}

// closet is a home with settings of clients.
type closet struct {
	dir  string
	part *wardrobe
}

const codexSettings = `model = "gpt-5.2-codex" # mine

[mcp_servers.serena]
command = "serena"
args = ["start-mcp-server", "--context", "ide", "--project-from-cwd"] # as the README has it

[mcp_servers.docs]
url = "https://developers.openai.com/mcp"
`

const claudeSettings = `{
  "numStartups": 12,
  "mcpServers": {
    "serena": {
      "type": "stdio",
      "command": "uvx",
      "args": ["--from", "git+https://github.com/oraios/serena", "serena", "start-mcp-server", "--context", "claude-code", "--project-from-cwd"],
      "env": {"API_KEY": "sk-verysecret"}
    },
    "in a shell": {"command": "bash", "args": ["-c", "serena start-mcp-server --project ."]},
    "memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
  },
  "projects": {"/src/alpha": {"mcpServers": {"serena": {"command": "/opt/missing/serena", "args": ["start-mcp-server", "--project", "/src/alpha"]}}}}
}
`

const geminiSettings = `{"mcpServers": {"serena": {"command": "/gone/lamplighter-connect", "args": ["connect", "--", "serena", "start-mcp-server", "--project", "/src/alpha"]}}}
`

func newCloset(t *testing.T) *closet {
	t.Helper()
	c := &closet{dir: t.TempDir()}
	for path, content := range map[string]string{
		".codex/config.toml":                   codexSettings,
		".claude.json":                         claudeSettings,
		".gemini/settings.json":                geminiSettings,
		".cursor/mcp.json":                     "{\n  \"mcpServers\": {\"serena\": {]}\n}\n",
		"program/lamplighter-connect":          "",
		".config/Code/User/mcp.json":           `{"servers": {"github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"}}}`,
		".config/Claude/never_read_by_us.json": "{}",
	} {
		c.write(t, path, content)
	}
	connect := c.path("program/lamplighter-connect")
	if err := os.Chmod(connect, 0o755); err != nil {
		t.Fatal(err)
	}
	c.part = &wardrobe{Setup: setup.New(setup.Options{
		Home: c.dir, State: c.path("state"), Connect: connect,
		Getenv: func(string) string { return "" },
		Programs: func() ([]setup.Program, error) {
			return []setup.Program{{PID: 4711, Exe: "/usr/bin/codex", Args: []string{"codex"}}}, nil
		},
		LookPath: func(command string) (string, error) {
			if strings.HasPrefix(command, "/opt/missing/") || strings.HasPrefix(command, "/gone/") {
				return "", os.ErrNotExist
			}
			if filepath.IsAbs(command) {
				return command, nil
			}
			return "/usr/bin/" + command, nil
		},
		PageOpens: func() bool { return true },
	})}
	return c
}

func (c *closet) path(name string) string { return filepath.Join(c.dir, filepath.FromSlash(name)) }

func (c *closet) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.path(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *closet) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(c.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// none checks that no file of such a name is there.
func (c *closet) none(t *testing.T, pattern string) {
	t.Helper()
	if found, err := filepath.Glob(c.path(pattern)); err != nil || len(found) != 0 {
		t.Errorf("%q, %v", found, err)
	}
}
