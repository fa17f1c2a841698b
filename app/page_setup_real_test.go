//go:build real && linux

package main

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
)

// TestClientsOnThePage: the settings of clients are shown, one is shared and taken
// out again, and what cannot be done is said.
func TestClientsOnThePage(t *testing.T) {
	c := newCloset(t)
	server := httptest.NewServer(api.Handler(api.Parts{
		Source: newOffice(t), Setup: c.part, Version: "1.2.3-test", Log: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(func() { // after the page, which would complain
		server.CloseClientConnections() // a stream does not end by itself
		server.Close()
	})
	p := browsertest.Start(t).Open(t, server.URL+"/global-dashboard/", browsertest.Options{})
	p.Forgive("the server responded with a status of 404") // nobody has recorded a history
	p.Forgive("the server responded with a status of 500") // where it is broken
	p.Forgive("the server responded with a status of 503") // there are no policies
	const view, codexFile = ".setup", ".codex/config.toml"
	share := browsertest.Button("Share its Serena… Codex")
	undo := browsertest.Button("Take it out again… Codex")
	closed := browsertest.Thing{Role: "checkbox", Name: "Keep Serena’s own page closed", Within: openDialog}
	focused := func(t *testing.T, want string) {
		t.Helper()
		apptest.Eventually(t, "the focus is on "+want, func() bool { return p.Focused(t) == want })
	}
	looks := func(t *testing.T, what string) {
		t.Helper()
		for look, options := range map[string]browsertest.Options{
			what: {}, what + " dark": {Dark: true}, what + " narrow": {Width: 390, Height: 844}, what + " narrow dark": {Width: 390, Height: 844, Dark: true}, what + " wide": {Width: 1920, Height: 1080},
		} {
			p.Look(t, options)
			p.Audit(t, look)
			p.Picture(t, look)
			if wide := p.WiderThanWindow(t); len(wide) != 0 {
				t.Errorf("%s: %q", look, wide)
			}
		}
		p.Look(t, browsertest.Options{})
	}

	t.Run("opened by a key", func(t *testing.T) {
		p.AwaitText(t, mainPart, "24282 - alpha")
		hold := make(chan struct{})
		c.part.change(func() { c.part.hold = hold })
		p.Press(t, "g", "c")
		p.AwaitText(t, view, "Clients", "Looking…")
		focused(t, "heading Clients")
		looks(t, "loading")
		c.part.change(func() { c.part.hold = nil })
		close(hold)
		p.AwaitText(t, view, "5 clients, 0 of 4 Serenas shared", "Codex", "runs now", "its Serena is not shared", "serena start-mcp-server --context ide --project-from-cwd",
			"https://developers.openai.com/mcp", "It starts Serena through bash -c", "serena for /src/alpha", "/opt/missing/serena is not found",
			"The lamplighter-connect that it runs is not there", "line 2", "Not found: Claude Desktop", "Look again")
		p.AwaitNoText(t, view, "verysecret", "never_read_by_us")
		if n := c.part.looked(); n != 1 {
			t.Errorf("%d looks, and one was asked for", n)
		}
		p.Await(t, "the title says it", "document.title === 'Clients · Lamplighter' && location.hash === '#/clients'")
		looks(t, "clients")
		p.Press(t, "g", "o")
		p.AwaitText(t, mainPart, "24282 - alpha")
		focused(t, "link Clients")
		p.Press(t, kb.Enter)
		focused(t, "heading Clients")
	})
	t.Run("thought better of", func(t *testing.T) {
		p.Click(t, share)
		p.AwaitText(t, openDialog, "Share the Serena of Codex?", c.path(codexFile), "before", "serena start-mcp-server --context ide --project-from-cwd",
			"after", c.path("program/lamplighter-connect")+" connect -- serena start-mcp-server --context ide --project-from-cwd", "kept beside it", "Codex runs now")
		looks(t, "question")
		p.Press(t, kb.Escape)
		p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
		focused(t, "button Share its Serena… Codex")
		if c.read(t, codexFile) != codexSettings {
			t.Error("it was changed")
		}
		c.none(t, codexFile+".*")
	})
	t.Run("shared by the keyboard", func(t *testing.T) {
		p.Focus(t, share)
		p.Press(t, kb.Enter)
		p.AwaitText(t, openDialog, "Share the Serena of Codex?")
		if p.Find(t, closed) != nil {
			t.Error("its page is to be kept closed, which a shared one never opens")
		}
		focused(t, "button Share")
		p.Press(t, kb.Enter)
		p.AwaitText(t, notices, "Changed in "+c.path(codexFile)+": serena.", codexFile+".lamplighter-backup", "Codex runs now and sees this only when you start it again.")
		p.AwaitText(t, view, "its Serena is shared", "changed by Lamplighter")
		focused(t, "button Take it out again… Codex")
		looks(t, "shared")
		now := c.read(t, codexFile)
		for _, part := range []string{`# mine`, `# as the README has it`, `"` + c.path("program/lamplighter-connect") + `"`, `"connect", "--", "serena", "start-mcp-server", "--context", "ide", "--project-from-cwd"`} {
			if !strings.Contains(now, part) {
				t.Errorf("%s is missing in\n%s", part, now)
			}
		}
		if c.read(t, codexFile+".lamplighter-backup") != codexSettings {
			t.Error("the backup is another file")
		}
		if c.read(t, ".claude.json") != claudeSettings || c.read(t, ".gemini/settings.json") != geminiSettings {
			t.Error("another client was changed")
		}
		dismissAll(t, p)
	})
	t.Run("taken out again", func(t *testing.T) {
		p.Click(t, undo)
		p.AwaitText(t, openDialog, "Take Lamplighter out of the settings of Codex?", c.path(codexFile), "put back, byte for byte")
		looks(t, "undo")
		p.Click(t, browsertest.Button("Take it out").In(openDialog))
		p.AwaitText(t, notices, "The file is as it was before.")
		p.AwaitText(t, view, "its Serena is not shared")
		focused(t, "button Share its Serena… Codex")
		if c.read(t, codexFile) != codexSettings {
			t.Errorf("got %s", c.read(t, codexFile))
		}
		c.none(t, codexFile+".*")
		dismissAll(t, p)
	})
	t.Run("left alone", func(t *testing.T) {
		p.Click(t, browsertest.Button("Share its Serena… Claude Code"))
		p.AwaitText(t, openDialog, c.path(".claude.json"), "in a shell is left alone. It starts Serena through bash -c", `lamplighter setup --server "in a shell"`, "serena for /src/alpha is left alone.")
		looks(t, "left")
		p.Click(t, browsertest.Button("Cancel").In(openDialog))
		p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
		if p.Find(t, browsertest.Button("Share its Serena… Cursor")) != nil {
			t.Error("a file that cannot be understood can be changed")
		}
	})
	t.Run("corrected", func(t *testing.T) {
		p.Click(t, browsertest.Button("Run its Serena through Lamplighter… Gemini CLI"))
		p.AwaitText(t, openDialog, "after", c.path("program/lamplighter-connect")+" connect -- serena start-mcp-server --project /src/alpha")
		p.Click(t, closed)
		p.AwaitText(t, openDialog, "--project /src/alpha --open-web-dashboard false")
		looks(t, "choice")
		p.Click(t, closed)
		p.AwaitNoText(t, openDialog, "--open-web-dashboard")
		p.Click(t, browsertest.Button("Run it through Lamplighter").In(openDialog))
		p.AwaitText(t, notices, "Changed in "+c.path(".gemini/settings.json"))
		p.AwaitText(t, view, "its Serena runs through Lamplighter, alone")
		focused(t, "button Keep its page closed… Gemini CLI")
		p.Press(t, kb.Enter)
		p.AwaitText(t, openDialog, "Keep Serena’s own page closed for Gemini CLI?", "--project /src/alpha --open-web-dashboard false", "cannot be shared, so its server is its own")
		looks(t, "quiet")
		p.Click(t, browsertest.Button("Keep it closed").In(openDialog))
		focused(t, "button Take it out again… Gemini CLI")
		if now := c.read(t, ".gemini/settings.json"); !strings.Contains(now, `"--open-web-dashboard", "false"`) {
			t.Errorf("got %s", now)
		}
		p.Press(t, kb.Enter)
		p.Click(t, browsertest.Button("Take it out").In(openDialog))
		p.AwaitText(t, notices, "Taken out of "+c.path(".gemini/settings.json"))
		if now := c.read(t, ".gemini/settings.json"); !strings.Contains(now, `"/gone/lamplighter-connect", "args": ["connect"`) || strings.Contains(now, "dashboard") {
			t.Errorf("got %s", now) // as it was before, when it pointed nowhere
		}
		dismissAll(t, p)
	})
	t.Run("refused", func(t *testing.T) {
		if err := os.Chmod(c.path(codexFile), 0o444); err != nil {
			t.Fatal(err)
		}
		p.Click(t, share)
		p.AwaitText(t, openDialog, "The settings of Codex cannot be changed now", "read-only")
		looks(t, "refused")
		p.Click(t, browsertest.Button("Close").In(openDialog))
		if err := os.Chmod(c.path(codexFile), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("changed between the question and the answer", func(t *testing.T) {
		p.Click(t, share)
		p.AwaitText(t, openDialog, "Share the Serena of Codex?")
		const edited = codexSettings + "# and more\n"
		c.write(t, codexFile, edited)
		p.Click(t, browsertest.Button("Share").In(openDialog))
		p.AwaitText(t, notices, "Nothing was done here: "+c.path(codexFile)+" is left as it is: it has changed since it was shown; look again.")
		if c.read(t, codexFile) != edited {
			t.Error("what was not shown was changed")
		}
		c.none(t, codexFile+".*")
		dismissAll(t, p)
		p.Click(t, share)
		p.AwaitText(t, openDialog, "Share the Serena of Codex?")
		if err := os.Remove(c.path(codexFile)); err != nil {
			t.Fatal(err)
		}
		p.Click(t, browsertest.Button("Share").In(openDialog))
		p.AwaitText(t, notices, "Nothing was done here: "+c.path(codexFile)+" is left as it is: it has changed since it was shown; look again.")
		p.AwaitText(t, view, "Not found: Claude Desktop, Codex")
		dismissAll(t, p)
		c.write(t, codexFile, codexSettings)
		p.Click(t, browsertest.Button("Look again"))
		p.AwaitText(t, view, "runs now")
	})
	t.Run("trouble", func(t *testing.T) {
		c.part.change(func() { c.part.broken = true })
		p.Click(t, browsertest.Button("Look again"))
		p.AwaitText(t, view, "The list of programs cannot be read; try again. What is shown is from before.", "Codex")
		looks(t, "trouble")
		p.Click(t, share)
		p.AwaitText(t, notices, "the list of programs cannot be read")
		dismissAll(t, p)
		p.Go(t, server.URL+"/global-dashboard/#/clients")
		p.Go(t, server.URL+"/global-dashboard/?#/clients")
		p.AwaitText(t, view, "The list of programs cannot be read; try again.", "Try again")
		p.Picture(t, "trouble from the start")
		c.part.change(func() { c.part.broken, c.part.bare = false, true })
		p.Click(t, browsertest.Button("Try again"))
		p.AwaitText(t, view, "No settings of a client were found.", "Where Lamplighter looks")
		p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Where Lamplighter looks"})
		p.AwaitText(t, view, c.path(codexFile))
		looks(t, "empty")
	})
	t.Run("never by itself", func(t *testing.T) {
		before := c.part.looked()
		p.Press(t, "g", "o")
		p.AwaitText(t, mainPart, "24282 - alpha")
		p.Press(t, "g", "c")
		apptest.Eventually(t, "it looks when it is opened", func() bool { return c.part.looked() > before })
		p.AwaitText(t, view, "No settings of a client were found.", "Look again")
		if n := c.part.looked() - before; n != 1 {
			t.Errorf("%d looks, and one was asked for", n)
		}
	})
}

// dismissAll takes all notices away. Some may go by themselves meanwhile.
func dismissAll(t *testing.T, p *browsertest.Page) {
	t.Helper()
	p.Await(t, "no notice is left", `(document.querySelectorAll('#notices [aria-label="Dismiss"]').forEach(one => one.click()), document.getElementById('notices').childElementCount === 0)`)
}
