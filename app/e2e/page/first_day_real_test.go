//go:build real && linux

package page

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
)

const codexSettings = `model = "gpt-5.2-codex" # mine

[mcp_servers.serena]
command = "serena"
args = ["start-mcp-server", "--context", "ide", "--project-from-cwd"] # as the README has it

[mcp_servers.docs]
url = "https://developers.openai.com/mcp"
`

// Of these none is changed. The first has a secret, the second is hostile.
const claudeSettings = `{"numStartups": 12, "mcpServers": {
  "memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "env": {"API_KEY": "sk-verysecret"}},
  "serena": {"command": "serena", "args": ["start-mcp-server", "--project", ` + markupAsJSON + `]},
  ` + markupAsJSON + `: {"command": ` + markupAsJSON + `, "args": ["serena", "start-mcp-server", ` + markupAsJSON + `]},
  "in a shell": {"command": "bash", "args": ["-c", "serena start-mcp-server --project ."]}}}
`

// Whoever has installed the program finds a page that teaches, is welcomed, switches
// start at login, and shares the Serena of a client and takes that back.
func (s *street) firstDay(t *testing.T) {
	p := s.open(t, s.address)
	p.AwaitText(t, mainPart, "Welcome to Lamplighter", "1.2.3-test", "None runs now", "It ends orphaned servers after 10 min", "clients start a Serena that does not run through Lamplighter yet.",
		"No servers yet", "Start your assistant")
	p.AwaitThing(t, browsertest.Tab("Overview"))
	looks(t, p, "the first page")

	s.startAtLogin(t, p, true)
	p.Focus(t, atLogin)
	p.Press(t, " ")
	s.startAtLogin(t, p, false)
	p.AwaitText(t, mainPart, "Off: you start it yourself after each login.")

	p.Click(t, browsertest.Link("Share servers among my clients…"))
	p.AwaitText(t, mainPart, "Clients", "Codex", "its Serena is not shared", "serena start-mcp-server --context ide --project-from-cwd", "https://developers.openai.com/mcp",
		"It starts Serena through bash", "Not found: ", "Look again")
	p.AwaitNoText(t, mainPart, "verysecret")
	focused(t, p, "heading Clients")
	looks(t, p, "clients")
	s.share(t, p)

	p.Press(t, "g", "o")
	p.AwaitText(t, mainPart, "Welcome to Lamplighter")
	p.Click(t, browsertest.Button("Close the welcome"))
	p.AwaitNoText(t, mainPart, "Welcome to Lamplighter")
	apptest.Eventually(t, "it is noted that the welcome was closed", func() bool { return isThere(filepath.Join(s.State(), "welcomed")) })
	p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Policies"})
	s.startAtLogin(t, p, false)
	p.Click(t, atLogin)
	s.startAtLogin(t, p, true)
	looks(t, p, "policies")
}

var atLogin = browsertest.Thing{Role: "checkbox", Name: "Start at login", Within: mainPart}

// startAtLogin waits until the page shows how start at login stands, which is so.
func (s *street) startAtLogin(t *testing.T, p *browsertest.Page, on bool) {
	t.Helper()
	apptest.Eventually(t, fmt.Sprintf("start at login is shown as %v", on), func() bool {
		found := p.Find(t, atLogin)
		return len(found) == 1 && found[0].Properties["checked"] == fmt.Sprint(on) && found[0].Properties["disabled"] != "true"
	})
	if entry := s.Path(".config", "autostart", "lamplighter.desktop"); isThere(entry) != on {
		t.Errorf("%s is there: %v", entry, !on)
	}
}

// share: nothing is changed before somebody said yes to what was shown, and what was
// changed is taken back byte for byte.
func (s *street) share(t *testing.T, p *browsertest.Page) {
	file := s.Path(".codex", "config.toml")
	is := func(want string) {
		t.Helper()
		if got := textOf(t, file); got != want {
			t.Errorf("%s is\n%s", file, got)
		}
		if textOf(t, s.Path(".claude.json")) != claudeSettings {
			t.Error("another client was changed")
		}
		if left, err := filepath.Glob(file + ".*"); err != nil || len(left) != 0 {
			t.Errorf("beside it are %q, %v", left, err)
		}
	}
	share, undo := browsertest.Button("Share its Serena… Codex"), browsertest.Button("Take it out again… Codex")
	connect, socket := s.Path(".local", "bin", "lamplighter-connect"), filepath.Join(filepath.Dir(s.Socket()), "share.sock")

	p.Click(t, share)
	p.AwaitText(t, openDialog, "Share the Serena of Codex?", file, "before", "serena start-mcp-server --context ide --project-from-cwd",
		"after", connect+" connect --or-direct --socket "+socket+" -- serena start-mcp-server --context ide --project-from-cwd", "kept beside it")
	looks(t, p, "the question before sharing")
	p.Press(t, kb.Escape)
	noDialog(t, p)
	focused(t, p, "button Share its Serena… Codex")
	is(codexSettings)

	p.Press(t, kb.Enter)
	p.AwaitText(t, openDialog, "Share the Serena of Codex?")
	focused(t, p, "button Share")
	p.Press(t, kb.Enter)
	p.AwaitText(t, everything, "Changed in "+file+": serena.", "config.toml.lamplighter-backup")
	p.AwaitText(t, mainPart, "its Serena is shared", "changed by Lamplighter")
	apptest.Contains(t, textOf(t, file), "# mine", "# as the README has it", `"`+connect+`"`,
		`"connect", "--or-direct", "--socket", "`+socket+`", "--", "serena", "start-mcp-server", "--context", "ide", "--project-from-cwd"`)
	if textOf(t, file+".lamplighter-backup") != codexSettings {
		t.Error("the backup is another file")
	}
	dismissAll(t, p)

	p.Click(t, undo)
	p.AwaitText(t, openDialog, "Take Lamplighter out of the settings of Codex?", file, "put back, byte for byte")
	choose(t, p, "Take it out")
	p.AwaitText(t, everything, "The file is as it was before.")
	p.AwaitText(t, mainPart, "its Serena is not shared")
	is(codexSettings)
	dismissAll(t, p)

	// Changed between the question and the answer.
	p.Click(t, share)
	p.AwaitText(t, openDialog, "Share the Serena of Codex?")
	const edited = codexSettings + "# and more\n"
	put(t, file, edited)
	choose(t, p, "Share")
	p.AwaitText(t, everything, "Nothing was done here: "+file+" is left as it is: it has changed since it was shown; look again.")
	is(edited)
	dismissAll(t, p)

	// What starts a Serena in a way that cannot be changed is left alone, and said.
	p.Click(t, browsertest.Button("Share its Serena… Claude Code"))
	p.AwaitText(t, openDialog, "in a shell is left alone. It starts Serena through bash")
	choose(t, p, "Cancel")
	noDialog(t, p)
	if strings.Contains(textOf(t, s.Path(".claude.json")), "lamplighter") {
		t.Error("it was changed without an answer")
	}
}
