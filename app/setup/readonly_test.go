package setup

import (
	"path/filepath"
	"strings"
	"testing"
)

// What a plugin has brought, and a command that is one list, are listed and not
// changed, with the reason.
func TestWhatIsOnlyListed(t *testing.T) {
	b := newBed(t)
	b.program("bin", "uvx")
	const serena = `["uvx", "--from", "git+https://github.com/oraios/serena", "serena", "start-mcp-server", "--context", "ide", "--project-from-cwd"]`
	b.write(".claude/settings.json", `{"enabledPlugins": {"serena@market": true}}`)
	plugin := b.write(".claude/plugins/cache/market/serena/1.0/.mcp.json", `{"serena": {"command": "uvx", "args": `+strings.Replace(serena, `"uvx", `, "", 1)+`}}`)
	list := b.write(".config/opencode/opencode.json", `{"mcp": {"serena": {"type": "local", "command": `+serena+`}}}`)
	inline := b.write(".claude/plugins/cache/market/serena/1.0/.claude-plugin/plugin.json", `{"name": "serena", "mcpServers": {"serena": {"command": "uvx", "args": `+strings.Replace(serena, `"uvx", `, "", 1)+`}}}`)
	extension := b.write(".gemini/extensions/code/gemini-extension.json", `{"name": "code", "mcpServers": {"serena": {"command": "uvx", "args": `+strings.Replace(serena, `"uvx", `, "", 1)+`}}}`)
	b.write(".gemini/extensions/prompts/gemini-extension.json", `{"name": "prompts", "version": "1.0.0"}`)
	for path, why := range map[string]string{
		plugin: "The plugin or extension serena@market has brought it", inline: "The plugin or extension serena@market has brought it",
		extension: "The plugin or extension code has brought it", list: "one list",
	} {
		before := b.read(path)
		if e := b.listed(path, "serena"); e.State != Direct || !e.Serena || e.Becomes != "" || !strings.Contains(e.Why, why) {
			t.Errorf("%s: %+v", path, e)
		}
		for _, c := range b.do(Wanted{Project: true}).Changes {
			if c.Problem != "" || len(c.Entries) > 0 {
				t.Errorf("%+v", c)
			}
		}
		if b.read(path) != before {
			t.Errorf("%s was changed: %s", path, b.read(path))
		}
	}
}

// What is above the project is changed when it is named, and not with the project.
func TestAboveTheProject(t *testing.T) {
	b := newBed(t)
	path := b.write(filepath.Join(filepath.Dir(b.dir), ".mcp.json"), direct)
	project := b.write(filepath.Join(b.dir, ".mcp.json"), direct)
	if r := b.do(Wanted{Project: true}); b.read(path) != direct || b.read(project) == direct {
		t.Errorf("%+v, and above it %s", r, b.read(path))
	}
	if c := b.done(Wanted{File: path}); len(c.Entries) != 1 {
		t.Errorf("%+v", c)
	}
	b.write(path, b.shared()) // by somebody else
	b.o.State += " of another"
	for _, c := range b.do(Wanted{Undo: true, Project: true}).Changes {
		if c.Path == path && (len(c.Entries) > 0 || len(c.Left) != 1 || !strings.Contains(c.Left[0].Why, "--file ")) {
			t.Errorf("%+v", c)
		}
	}
	b.done(Wanted{Undo: true, File: path})
}
