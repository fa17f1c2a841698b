package workspace

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/workspace/gitwork"
)

func TestJudge(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	dirty := Loss{Words: "1 file is not committed (a)"}
	user := []User{{PID: 12, Name: "bash", How: "works in /w"}}
	for _, test := range []struct {
		name      string
		s         Stale
		also      besides
		removable bool
		why       []string
	}{
		{"merged", Stale{Merged: true, UsedAt: now.Add(-72 * time.Hour)}, besides{}, true, []string{"nothing would be lost", "another branch", "3 days ago"}},
		{"pushed", Stale{Merged: true, Pushed: true}, besides{}, true, []string{"nothing would be lost", "on a remote"}},
		{"main", Stale{Main: true}, besides{}, false, []string{"main"}},
		{"in use", Stale{InUse: user}, besides{}, false, []string{"bash", "12", "works in /w"}},
		{"in use, locked and dirty", Stale{InUse: user, Locked: true, Loss: dirty}, besides{}, false, []string{"in use"}},
		{"missing and in use", Stale{InUse: user, Missing: true}, besides{}, false, []string{"in use"}},
		{"nobody could look", Stale{}, besides{unseen: errors.New("no lsof")}, false, []string{"no lsof"}},
		{"locked", Stale{Locked: true, LockedWhy: "on a stick"}, besides{}, false, []string{"on a stick", "git worktree unlock"}},
		{"locked and missing", Stale{Locked: true, Missing: true}, besides{}, false, []string{"locked"}},
		{"dirty", Stale{Dirty: true, Loss: dirty}, besides{}, false, []string{"would be lost", "not committed"}},
		{"missing", Stale{Missing: true}, besides{prunable: "gone"}, true, []string{"directory has gone"}},
		{"missing with commits", Stale{Missing: true, Loss: Loss{Words: "1 commit"}}, besides{prunable: "gone"}, false, []string{"1 commit"}},
		{"without .git", Stale{}, besides{prunable: "no .git any more"}, false, []string{"no .git any more"}},
		{"ours", Stale{}, besides{job: "fix"}, false, []string{`"fix"`, "not ended"}},
		{"ours, completed", Stale{Merged: true}, besides{job: "fix", done: true}, true, []string{"nothing would be lost"}},
		{"ours, being made", Stale{}, besides{job: "fix", done: true, busy: true}, false, []string{"worked on"}},
		{"with another", Stale{Merged: true, with: []string{"built/inner"}}, besides{}, true, []string{"nothing would be lost", "built/inner"}},
		{"barred", Stale{InUse: user, Missing: true, barred: "a file system is mounted"}, besides{}, false, []string{"mounted"}},
		{"of the future", Stale{UsedAt: now.Add(time.Hour)}, besides{}, true, []string{"nothing would be lost"}},
	} {
		test.also.now = now
		removable, why := judge(test.s, test.also)
		if removable != test.removable {
			t.Errorf("%s: %v, %s", test.name, removable, why)
		}
		for _, part := range test.why {
			if !strings.Contains(why, part) {
				t.Errorf("%s: %q does not say %q", test.name, why, part)
			}
		}
	}
	if _, why := judge(Stale{UsedAt: now.Add(time.Hour)}, besides{now: now}); strings.Contains(why, "ago") {
		t.Error(why)
	}
}

func TestMadeBy(t *testing.T) {
	for _, test := range []struct{ path, branch, want string }{
		{"/home/u/shop/.claude/worktrees/fix", "worktree-fix", "Claude Code"},
		{"/home/u/.codex/worktrees/1a/shop", "", "Codex"},
		{"/home/u/.cursor/worktrees/shop/x", "feat", "Cursor"},
		{"/home/u/shop/.claude/worktrees/x", "codex/x", "Claude Code"},
		{"/tmp/x", "codex/x", "Codex"},
		{"/tmp/x", "claude/x", "Claude Code"},
		{"/tmp/x", "cursor/x", "Cursor"},
		{"/tmp/x", "lamplighter/shop-x", "lamplighter"},
		{"/tmp/x", "main", ""},
		{"/tmp/claude/x", "", ""},
	} {
		if got := madeBy(filepath.FromSlash(test.path), test.branch); got != test.want {
			t.Errorf("%v: %q", test, got)
		}
	}
}

func TestLossOf(t *testing.T) {
	if loss := lossOf(gitwork.Status{Merged: true}, nil); loss.Words != "" || loss.Uncommitted == nil || loss.Commits == nil || loss.Submodules == nil {
		t.Errorf("%+v", loss)
	}
	loss := lossOf(gitwork.Status{Uncommitted: []string{"a\x1b[31m"}, More: 3, Commits: []string{"1a2b3c4 s\u202e"}, Submodules: []string{"lib"}, Busy: "rebase"}, nil)
	for _, part := range []string{"4 files", "1 commit", "rebase", "lib"} {
		if !strings.Contains(loss.Words, part) {
			t.Errorf("%q does not say %q", loss.Words, part)
		}
	}
	if loss.Uncommitted[0] != "a[31m" || loss.Commits[0] != "1a2b3c4 s" {
		t.Errorf("%+v", loss)
	}
	if loss := lossOf(gitwork.Status{}, errors.New("its .git was changed")); loss.Unknown == "" || loss.Words == "" {
		t.Errorf("%+v", loss)
	}
}
