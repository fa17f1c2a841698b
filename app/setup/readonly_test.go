package setup

import (
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
		for _, c := range b.do(Wanted{}).Changes {
			if c.Problem != "" || len(c.Entries) > 0 {
				t.Errorf("%+v", c)
			}
		}
		if b.read(path) != before {
			t.Errorf("%s was changed: %s", path, b.read(path))
		}
	}
}
