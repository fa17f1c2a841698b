//go:build real && linux

package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/app/workspace"
)

// TestWorkspacesOnThePage: workspaces are shown as they come and go, and what the
// buttons say is what happens on the disk.
func TestWorkspacesOnThePage(t *testing.T) {
	y := newYard(t)
	server := httptest.NewServer(y.failing(api.Handler(api.Parts{
		Source: newOffice(t), Workspaces: y, Version: "1.2.3-test", Log: slog.New(slog.DiscardHandler),
	})))
	t.Cleanup(func() { // after the page, which would complain
		server.CloseClientConnections()
		server.Close()
	})
	repo := filepath.Join(t.TempDir(), "alpha")
	writeTo(t, filepath.Join(repo, "parser.go"), "package parser\n\nconst old = 1\n")
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "add", ".")
	gitIn(t, repo, "commit", "-q", "-m", "begin")

	p := browsertest.Start(t).Open(t, server.URL+"/global-dashboard/", browsertest.Options{})
	p.Forgive("the server responded with a status of 404") // nobody has recorded a history
	p.Forgive("the server responded with a status of 503") // there are no policies; where it is broken
	const view = ".workspaces"
	focused := func(t *testing.T, want string) {
		t.Helper()
		apptest.Eventually(t, "the focus is on "+want, func() bool { return strings.HasPrefix(p.Focused(t), want) })
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
	open := func(t *testing.T, job string) {
		t.Helper()
		p.Click(t, browsertest.Button(job).In(".workspace-list"))
		p.AwaitText(t, ".workspace-details", "Remove…")
	}
	choose := func(t *testing.T, name string) {
		t.Helper()
		p.Click(t, browsertest.Button(name).In(openDialog))
	}

	t.Run("loaded when it is asked for", func(t *testing.T) {
		p.AwaitText(t, mainPart, "24282 - alpha")
		if browsertest.Eval[bool](t, p, "performance.getEntriesByType('resource').some(one => one.name.endsWith('/workspacespanel.js'))") {
			t.Error("its files are loaded before anybody wants to see it")
		}
	})
	t.Run("none yet", func(t *testing.T) {
		p.Press(t, "g", "w")
		p.AwaitText(t, view, "No workspaces yet", "lamplighter workspace create", "none yet")
		focused(t, "heading Workspaces")
		p.Await(t, "the title says it", "document.title === 'Workspaces · Lamplighter' && location.hash === '#/workspaces'")
		looks(t, "no workspaces")
		p.Press(t, "g", "o")
		p.AwaitText(t, mainPart, "24282 - alpha")
		focused(t, "link Workspaces")
		p.Press(t, kb.Enter)
		focused(t, "heading Workspaces")
	})
	var notes workspace.Workspace
	t.Run("they come by themselves", func(t *testing.T) {
		y.make(t, workspace.Request{Kind: workspace.Temp, Job: "draft", Project: "alpha"})
		notes = y.make(t, workspace.Request{Kind: workspace.Persistent, Job: "release notes", From: repo, Copy: true})
		p.AwaitText(t, view, "2 workspaces", "draft", "temporary", "removed when its job ends", "release notes", "persistent", "stays until it is removed", notes.Path)
		looks(t, "workspaces")
	})
	t.Run("a version is kept, compared and put back", func(t *testing.T) {
		p.Focus(t, browsertest.Button("release notes").In(".workspace-list"))
		p.Press(t, kb.Enter)
		p.AwaitText(t, ".workspace-details", "Made from", "a copy of "+repo, "None yet. Keep one", "Keep a version…", "Archive…")
		p.Click(t, browsertest.Button("Keep a version… release notes"))
		choose(t, "Keep")
		p.AwaitText(t, openDialog, "Say in a few words what this version is.")
		p.Fill(t, browsertest.Field("What is it, in a few words?").In(openDialog), "先 the <b>first</b> one")
		looks(t, "keep")
		p.Press(t, kb.Enter)
		p.AwaitText(t, notices, "Kept as version 1: release notes.")
		p.AwaitText(t, ".workspace-details", "先 the <b>first</b> one", "What changed since…")
		writeTo(t, filepath.Join(notes.Path, "parser.go"), "package parser\n\nconst brandNew = 2\n")
		p.Click(t, browsertest.Button("What changed since… version 1"))
		p.AwaitText(t, openDialog, "What changed in release notes since version 1", "1 file differs: 1 changed.", "parser.go", "-const old = 1", "+const brandNew = 2")
		looks(t, "diff")
		choose(t, "Close")
		p.Click(t, browsertest.Button("Put back… version 1"))
		p.AwaitText(t, openDialog, "Put version 1 of release notes back?", "kept as a version before")
		looks(t, "put back")
		choose(t, "Restore")
		p.AwaitText(t, notices, "Version 1 is back: release notes.")
		content, err := os.ReadFile(filepath.Join(notes.Path, "parser.go"))
		if err != nil || !strings.Contains(string(content), "const old = 1") {
			t.Errorf("%q, %v", content, err)
		}
		p.AwaitText(t, ".workspace-versions", "2", "Since 1…")
		looks(t, "versions")
		dismissAll(t, p)
	})
	t.Run("archived and restored", func(t *testing.T) {
		p.Click(t, browsertest.Button("Archive… release notes"))
		p.AwaitText(t, openDialog, "Archive release notes?", notes.Path)
		choose(t, "Archive")
		p.AwaitText(t, notices, "Archived: release notes.", ".tar.zst")
		p.AwaitText(t, view, "archived")
		if isThere(notes.Path) {
			t.Error("its directory is still there")
		}
		dismissAll(t, p)
		p.Click(t, browsertest.Button("Restore… release notes"))
		choose(t, "Restore")
		p.AwaitText(t, notices, "Restored: release notes.")
		apptest.Eventually(t, "its directory is there again", func() bool { return isThere(filepath.Join(notes.Path, "parser.go")) })
		dismissAll(t, p)
		p.Click(t, browsertest.Button("release notes").In(".workspace-list"))
	})
	t.Run("removed with nothing lost", func(t *testing.T) {
		draft, err := y.Find(t.Context(), "draft")
		if err != nil {
			t.Fatal(err)
		}
		open(t, "draft")
		p.Click(t, browsertest.Button("Remove… draft"))
		p.AwaitText(t, openDialog, "Remove draft?", "Nothing would be lost", draft.Path)
		focused(t, "button Cancel")
		looks(t, "remove")
		p.Press(t, kb.Escape)
		p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
		focused(t, "button Remove… draft")
		if !isThere(draft.Path) {
			t.Fatal("it was removed")
		}
		p.Press(t, kb.Enter)
		choose(t, "Remove")
		p.AwaitText(t, notices, "draft: removed")
		p.AwaitText(t, view, "1 workspace")
		p.AwaitNoText(t, view, draft.Path)
		if isThere(draft.Path) {
			t.Error("it is still there")
		}
		dismissAll(t, p)
	})
	t.Run("removed with work that is lost", func(t *testing.T) {
		fix := y.make(t, workspace.Request{Kind: workspace.Temp, Job: "fix 🔧", From: repo})
		writeTo(t, filepath.Join(fix.Path, "brand <new>.go"), "package parser\n")
		p.AwaitText(t, view, "fix 🔧")
		open(t, "fix 🔧")
		p.Click(t, browsertest.Button("Remove… fix 🔧"))
		p.AwaitText(t, openDialog, "Would be lost:", "brand <new>.go", "Remove all the same…")
		looks(t, "loss")
		choose(t, "Remove all the same…")
		p.AwaitText(t, openDialog, "Lose this work of fix 🔧?", "Nobody can bring it back.")
		focused(t, "button Keep it")
		looks(t, "second question")
		p.Press(t, kb.Enter) // which keeps it
		p.AwaitNoThing(t, browsertest.Thing{Role: "dialog"})
		if !isThere(filepath.Join(fix.Path, "brand <new>.go")) {
			t.Fatal("it was lost")
		}
		p.Click(t, browsertest.Button("Remove… fix 🔧"))
		choose(t, "Remove all the same…")
		choose(t, "Remove and lose it")
		p.AwaitText(t, notices, "fix 🔧: removed")
		if isThere(fix.Path) {
			t.Error("it is still there")
		}
		dismissAll(t, p)
	})
	t.Run("in use", func(t *testing.T) {
		busy := y.make(t, workspace.Request{Kind: workspace.Temp, Job: "busy"})
		worker := exec.Command("sleep", "300")
		worker.Dir = busy.Path
		if err := worker.Start(); err != nil {
			t.Fatal(err)
		}
		end := sync.OnceFunc(func() {
			_ = worker.Process.Kill()
			_ = worker.Wait()
		})
		defer end()
		p.AwaitText(t, view, busy.Path)
		open(t, "busy")
		p.Click(t, browsertest.Button("Remove… busy"))
		p.AwaitText(t, openDialog, "busy cannot be removed now", "Somebody works inside. End that first.", fmt.Sprintf("sleep (process %d)", worker.Process.Pid))
		looks(t, "in use")
		choose(t, "Close")
		end()
		if !isThere(busy.Path) {
			t.Error("it was removed")
		}
	})
	t.Run("stale worktrees", func(t *testing.T) {
		left := filepath.Join(repo, ".claude", "worktrees", "old-try")
		gitIn(t, repo, "worktree", "add", "-q", "-b", "old-try", left)
		dirty := filepath.Join(repo, ".claude", "worktrees", "dirty")
		gitIn(t, repo, "worktree", "add", "-q", "-b", "dirty", dirty)
		writeTo(t, filepath.Join(dirty, "unsaved.txt"), "mine")
		p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Stale worktrees"})
		p.Click(t, browsertest.Button("Scan").In(".scan"))
		p.AwaitText(t, ".scan", "Type the path of a directory")
		focused(t, "textbox Directory")
		p.Fill(t, browsertest.Field("Directory").In(".scan"), "relative")
		p.Press(t, kb.Enter)
		p.AwaitText(t, ".scan", "has to be an absolute path")
		p.Forgive("the server responded with a status of 400")
		p.Fill(t, browsertest.Field("Directory").In(".scan"), repo)
		p.Press(t, kb.Enter)
		p.AwaitText(t, ".scan", "2 worktrees; 1 can be removed with nothing lost", left, dirty, "made by Claude Code", "branch old-try", "has changes", "unsaved.txt")
		looks(t, "scan")
		p.Click(t, browsertest.Button("Remove… "+left))
		p.AwaitText(t, openDialog, "Remove old-try?", left, "Nothing would be lost")
		choose(t, "Remove")
		p.AwaitText(t, notices, "old-try: removed")
		p.AwaitNoText(t, ".scan-list", left)
		if isThere(left) || !isThere(dirty) {
			t.Error("what was to go is there, or what was to stay is not")
		}
		p.Click(t, browsertest.Button("Remove… "+dirty))
		p.AwaitText(t, openDialog, "Would be lost:", "unsaved.txt")
		choose(t, "Cancel")
		dismissAll(t, p)
		p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Stale worktrees"})
	})
	t.Run("trouble", func(t *testing.T) {
		y.breaks(true)
		server.CloseClientConnections()
		p.Forgive("net::ERR_")
		p.AwaitText(t, view, "The directory of workspaces cannot be read; look at its permissions. What is shown is from before.", "release notes")
		looks(t, "trouble")
		y.show(lodgers(40, workspace.Making{}))
		y.breaks(false)
		p.AwaitText(t, view, "40 workspaces")
		p.AwaitNoText(t, view, "cannot be read")
	})
	t.Run("being made", func(t *testing.T) {
		making := workspace.Making{ID: "x", Name: "alpha-x-1", Job: "build everything", Progress: workspace.Progress{
			Phase: workspace.Copying, Bytes: 1.2e9, BytesTotal: 2.6e9, FilesTotal: -1, Percent: 45, Left: 12 * time.Second,
		}}
		y.show(lodgers(40, making))
		p.AwaitText(t, ".workspace-makings", "build everything", "copying: 45 %, 1.2 GB of 2.6 GB, 12 s left")
		p.Await(t, "the bar shows it", "document.querySelector('.workspace-making progress').value === 45")
		looks(t, "being made")
		making.Progress.Percent = 100
		y.show(lodgers(40, making))
		p.AwaitText(t, ".workspace-makings", "100 %")
		done := lodgers(41, workspace.Making{})
		done.Workspaces[40].ID, done.Workspaces[40].Job, done.Workspaces[40].CreatedAt = "x", "build everything", time.Now()
		y.show(done)
		p.AwaitText(t, ".workspace-list", "build everything")
		p.Await(t, "a screen reader is told", "document.getElementById('announcer').textContent.includes('The workspace for build everything is ready')")
	})
	t.Run("a thousand", func(t *testing.T) {
		y.show(lodgers(1000, workspace.Making{}))
		p.AwaitText(t, view, "1,000 workspaces", "Show 200 more of 1,000")
		if n := browsertest.Eval[int](t, p, "document.querySelectorAll('.workspace').length"); n != 200 {
			t.Errorf("%d are drawn", n)
		}
		p.Audit(t, "a thousand")
		p.Click(t, browsertest.Button("Show 200 more of 1,000"))
		p.Await(t, "there are more", "document.querySelectorAll('.workspace').length === 400")
		p.Press(t, "/")
		focused(t, "searchbox Filter workspaces")
		p.Fill(t, browsertest.Thing{Role: "searchbox", Name: "Filter workspaces"}, "job-0777")
		p.Await(t, "one matches", "document.querySelectorAll('.workspace').length === 1")
		p.Press(t, "x")
		p.AwaitText(t, view, "No workspace matches “job-0777x”.")
		looks(t, "no match")
		browsertest.Eval[any](t, p, "(() => { const field = document.querySelector('.workspace-tools input'); field.value = ''; field.dispatchEvent(new Event('input')) })()")
		p.Await(t, "they are back", "document.querySelectorAll('.workspace').length === 200")
		browsertest.Eval[any](t, p, "(() => { const order = document.querySelector('.workspace-tools select'); order.value = 'largest'; order.dispatchEvent(new Event('change')) })()")
		p.AwaitText(t, ".workspace:first-child", "job-0999")
		if browsertest.Eval[bool](t, p, "Boolean(document.querySelector('.workspace img')) || [...document.body.childNodes].some(one => one.nodeType === Node.TEXT_NODE && one.data.includes('was run'))") {
			t.Error("a name is markup")
		}
	})
}

// TestWorkspacesThatCannotBeLoaded: where lamplighter has ended before the files
// of the view were loaded, that is said.
func TestWorkspacesThatCannotBeLoaded(t *testing.T) {
	y := newYard(t)
	h := api.Handler(api.Parts{Source: newOffice(t), Workspaces: y, Version: "1.2.3-test", Log: slog.New(slog.DiscardHandler)})
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-gone:
			if strings.HasSuffix(req.URL.Path, "/workspacesrow.js") {
				panic(http.ErrAbortHandler)
			}
		default:
		}
		h.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p := browsertest.Start(t).Open(t, server.URL+"/global-dashboard/", browsertest.Options{})
	p.Forgive("the server responded with a status of 404")
	p.Forgive("the server responded with a status of 503")
	p.Forgive("net::ERR_")
	p.AwaitText(t, mainPart, "24282 - alpha")
	close(gone)
	p.Press(t, "g", "w")
	p.AwaitText(t, ".later:has(#workspaces-title)", "Workspaces", "This part of the page could not be loaded: Lamplighter does not answer.", "Reload the page")
	p.Audit(t, "not loaded")
	p.Press(t, "g", "o")
	p.AwaitText(t, mainPart, "24282 - alpha")
}
