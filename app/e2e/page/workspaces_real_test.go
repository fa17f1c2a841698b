//go:build real && linux

package page

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
	"lamplighter/app/e2e"
)

// create makes a workspace by the command line.
func (s *street) create(t *testing.T, args ...string) (made e2e.Space) {
	t.Helper()
	code, out, errs := s.Does(t, append([]string{"workspace", "create", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &made); code != 0 || err != nil || made.Path == "" {
		t.Fatalf("%q: %d, %s%s", args, code, out, errs)
	}
	return made
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// Workspaces are shown as they come and go, what the buttons say is what happens on
// the disk, and no work is lost before somebody has said so twice.
func (s *street) workspaces(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "alpha")
	put(t, filepath.Join(repo, "parser.go"), "package parser\n\nconst old = 1\n")
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "add", ".")
	gitIn(t, repo, "commit", "-q", "-m", "begin")

	p := s.open(t, s.address)
	p.AwaitText(t, mainPart, "alpha")
	p.Press(t, "g", "w")
	p.AwaitText(t, mainPart, "No workspaces yet", "lamplighter workspace create")
	focused(t, p, "heading Workspaces")
	draft := s.create(t, "--kind", "temp", "--job", "draft", "--project", "alpha")
	notes := s.create(t, "--kind", "persistent", "--job", "release notes", "--from", repo, "--copy")
	fix := s.create(t, "--kind", "temp", "--job", "fix 🔧", "--from", repo)
	p.AwaitText(t, mainPart, "3 workspaces", "draft", "temporary", "removed when its job ends", "release notes", "persistent", "stays until it is removed", notes.Path)
	looks(t, p, "workspaces")
	s.versions(t, p, repo, notes)
	s.removals(t, p, draft, notes, fix)
	s.worktrees(t, p, repo)
}

// versions: one is kept, compared and put back; all is archived and restored.
func (s *street) versions(t *testing.T, p *browsertest.Page, repo string, notes e2e.Space) {
	parser := filepath.Join(notes.Path, "parser.go")
	press(t, p, "release notes")
	p.AwaitText(t, mainPart, "Made from", "a copy of "+repo, "None yet. Keep one", "Keep a version…", "Archive…")
	press(t, p, "Keep a version… release notes")
	p.Fill(t, browsertest.Field("What is it, in a few words?").In(openDialog), "先 the <b>first</b> one")
	p.Press(t, kb.Enter)
	p.AwaitText(t, everything, "Kept as version 1: release notes.")
	p.AwaitText(t, mainPart, "先 the <b>first</b> one", "What changed since…")
	put(t, parser, "package parser\n\nconst brandNew = 2\n")
	press(t, p, "What changed since… version 1")
	p.AwaitText(t, openDialog, "What changed in release notes since version 1", "1 file differs: 1 changed.", "parser.go", "-const old = 1", "+const brandNew = 2")
	looks(t, p, "what changed")
	choose(t, p, "Close")
	press(t, p, "Put back… version 1")
	p.AwaitText(t, openDialog, "Put version 1 of release notes back?", "kept as a version before")
	choose(t, p, "Restore")
	p.AwaitText(t, everything, "Version 1 is back: release notes.")
	if text := textOf(t, parser); !strings.Contains(text, "const old = 1") {
		t.Errorf("it is %q", text)
	}
	dismissAll(t, p)

	press(t, p, "Archive… release notes")
	p.AwaitText(t, openDialog, "Archive release notes?", notes.Path)
	choose(t, p, "Archive")
	p.AwaitText(t, everything, "Archived: release notes.", ".tar.zst")
	if isThere(notes.Path) {
		t.Error("its directory is still there")
	}
	dismissAll(t, p)
	press(t, p, "Restore… release notes")
	choose(t, p, "Restore")
	p.AwaitText(t, everything, "Restored: release notes.")
	if text := textOf(t, parser); !strings.Contains(text, "const old = 1") {
		t.Errorf("it is %q", text)
	}
	dismissAll(t, p)
}

// removals: with nothing lost, with work that is lost, and while somebody works there.
func (s *street) removals(t *testing.T, p *browsertest.Page, draft, notes, fix e2e.Space) {
	open := func(job string) {
		t.Helper()
		remove := browsertest.Button("Remove… " + job)
		if len(p.Find(t, remove)) == 0 {
			press(t, p, job)
		}
		p.AwaitThing(t, remove)
	}
	open("draft")
	press(t, p, "Remove… draft")
	p.AwaitText(t, openDialog, "Remove draft?", "Nothing would be lost", draft.Path)
	focused(t, p, "button Cancel")
	p.Press(t, kb.Escape)
	noDialog(t, p)
	focused(t, p, "button Remove… draft")
	if !isThere(draft.Path) {
		t.Fatal("it was removed")
	}
	p.Press(t, kb.Enter)
	choose(t, p, "Remove")
	p.AwaitText(t, everything, "draft: removed")
	p.AwaitNoText(t, mainPart, draft.Path)
	if isThere(draft.Path) {
		t.Error("it is still there")
	}
	dismissAll(t, p)

	work := filepath.Join(fix.Path, "brand <new>.go")
	put(t, work, "package parser\n")
	open("fix 🔧")
	press(t, p, "Remove… fix 🔧")
	p.AwaitText(t, openDialog, "Would be lost:", "brand <new>.go", "Remove all the same…")
	choose(t, p, "Remove all the same…")
	p.AwaitText(t, openDialog, "Lose this work of fix 🔧?", "Nobody can bring it back.")
	focused(t, p, "button Keep it")
	looks(t, p, "the second question")
	p.Press(t, kb.Enter) // which keeps it
	noDialog(t, p)
	if !isThere(work) {
		t.Fatal("it was lost")
	}
	press(t, p, "Remove… fix 🔧")
	choose(t, p, "Remove all the same…")
	choose(t, p, "Remove and lose it")
	p.AwaitText(t, everything, "fix 🔧: removed")
	if isThere(fix.Path) {
		t.Error("it is still there")
	}
	dismissAll(t, p)

	worker := exec.Command("sleep", "300")
	worker.Dir = notes.Path
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
	})
	defer end()
	open("release notes")
	press(t, p, "Remove… release notes")
	p.AwaitText(t, openDialog, "release notes cannot be removed now", "Somebody works inside. End that first.", fmt.Sprintf("sleep (process %d)", worker.Process.Pid))
	choose(t, p, "Close")
	if !isThere(notes.Path) {
		t.Error("it was removed")
	}
}

// worktrees of others that nobody needs any more are found, and removed one by one.
func (s *street) worktrees(t *testing.T, p *browsertest.Page, repo string) {
	left, dirty := filepath.Join(repo, ".claude", "worktrees", "old-try"), filepath.Join(repo, ".claude", "worktrees", "dirty")
	gitIn(t, repo, "worktree", "add", "-q", "-b", "old-try", left)
	gitIn(t, repo, "worktree", "add", "-q", "-b", "dirty", dirty)
	put(t, filepath.Join(dirty, "unsaved.txt"), "mine")
	p.Click(t, browsertest.Thing{Role: "DisclosureTriangle", Name: "Stale worktrees"})
	p.Fill(t, browsertest.Field("Directory").In(mainPart), repo)
	p.Press(t, kb.Enter)
	p.AwaitText(t, mainPart, "2 worktrees; 1 can be removed with nothing lost", left, dirty, "made by Claude Code", "branch old-try", "has changes", "unsaved.txt")
	press(t, p, "Remove… "+left)
	p.AwaitText(t, openDialog, "Remove old-try?", left, "Nothing would be lost")
	choose(t, p, "Remove")
	p.AwaitText(t, everything, "old-try: removed")
	apptest.Eventually(t, "it is gone", func() bool { return !isThere(left) })
	press(t, p, "Remove… "+dirty)
	p.AwaitText(t, openDialog, "Would be lost:", "unsaved.txt")
	choose(t, p, "Cancel")
	noDialog(t, p)
	if !isThere(filepath.Join(dirty, "unsaved.txt")) {
		t.Error("what nobody has saved is lost")
	}
}
