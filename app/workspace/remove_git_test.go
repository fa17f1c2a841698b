package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRemoveFromGit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		work  func(t *testing.T, dir string)
		words string // of the loss
		kept  bool   // the branch
	}{
		{"nothing done", func(*testing.T, string) {}, "", false},
		{"ignored", func(t *testing.T, dir string) { write(t, dir, map[string]string{"x.log": "x"}) }, "", false},
		{"changed", func(t *testing.T, dir string) { write(t, dir, map[string]string{"a": "other"}) }, "1 file is not committed (a)", false},
		{"new", func(t *testing.T, dir string) { write(t, dir, map[string]string{"new\tname": "x"}) }, "1 file is not committed (new name)", false},
		{"staged", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"n": "x"})
			git(t, dir, "add", "n")
		}, "1 file is not committed (n)", false},
		{"many", func(t *testing.T, dir string) {
			for i := range 30 {
				write(t, dir, map[string]string{"n" + string(rune('a'+i)): "x"})
			}
		}, "30 files are not committed", false},
		{"committed", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a": "other"})
			git(t, dir, "commit", "--all", "--message=work")
		}, "1 commit is on no other branch and no remote", true},
		{"committed, also elsewhere", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a": "other"})
			git(t, dir, "commit", "--all", "--message=work")
			git(t, dir, "branch", "elsewhere")
		}, "", false},
		{"committed without a branch", func(t *testing.T, dir string) {
			git(t, dir, "checkout", "--detach")
			write(t, dir, map[string]string{"a": "other"})
			git(t, dir, "commit", "--all", "--message=work")
		}, "1 commit is on no other branch and no remote", true},
		{"committed without a branch, which went another way", func(t *testing.T, dir string) {
			git(t, dir, "commit", "--allow-empty", "--message=on the branch")
			git(t, dir, "checkout", "--detach", "HEAD~")
			git(t, dir, "commit", "--allow-empty", "--message=work")
		}, "1 commit is on no other branch and no remote", true},
		{"without a branch, nothing done", func(t *testing.T, dir string) { git(t, dir, "checkout", "--detach") }, "", false},
		{"no git any more", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		}, "could not be found out", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(nil)
			repo := l.repository("repo", map[string]string{"a": "a", ".gitignore": "*.log\n"})
			w := l.create(m, Request{Kind: Temp, From: repo})
			test.work(t, w.Path)
			before := content(t, w.Path)
			out, err := m.Remove(t.Context(), w.ID, Removal{})
			if test.words != "" {
				if !errors.Is(err, ErrLoss) || out.Loss == nil || !strings.Contains(out.Loss.Words, test.words) || !strings.Contains(err.Error(), "with force") {
					t.Errorf("%+v, %v", out.Loss, err)
				}
				l.stays(m, w, before)
				dry, dryErr := m.Remove(t.Context(), w.ID, Removal{Force: true, DryRun: true})
				if dryErr != nil || dry.What != "would be removed" || (dry.Kept != "") != test.kept {
					t.Errorf("%+v, %v", dry, dryErr)
				}
				out, err = m.Remove(t.Context(), w.ID, Removal{Force: true})
			}
			if err != nil || !out.Done || (out.Kept != "") != test.kept {
				t.Errorf("%+v, %v", out, err)
			}
			l.gone(m, w)
			if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
				t.Errorf("worktrees: %s", got)
			}
			branches := git(t, repo, "branch", "--list", "lamplighter/*")
			if (branches != "") != test.kept {
				t.Errorf("branches: %s", branches)
			}
		})
	}
}

func TestRemoveWithoutRepository(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	repo := l.repository("repo", map[string]string{"a": "a"})
	w := l.create(m, Request{Kind: Temp, From: repo})
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	if out, err := m.Remove(t.Context(), w.ID, Removal{}); !errors.Is(err, ErrLoss) || out.Loss.Unknown == "" {
		t.Errorf("%+v, %v", out.Loss, err)
	}
	if _, err := m.Remove(t.Context(), w.ID, Removal{Force: true}); err != nil {
		t.Error(err)
	}
	l.gone(m, w)
}

func TestRemoveBusy(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	m.Configure(Limits{Patience: time.Millisecond})
	w := l.create(m, Request{Kind: Temp})
	release, err := m.store.hold(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Remove(t.Context(), w.ID, Removal{Force: true})
	if !errors.Is(err, ErrBusy) || out.Workspace.ID != w.ID || out.Why == "" || out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	release()
	if _, err := m.Remove(t.Context(), w.ID, Removal{}); err != nil {
		t.Error(err)
	}
}

// What a forced removal keeps is what was checked out, wherever that leads.
func TestRemoveKeepsCommits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		work   []string // before the commit
		others int      // branches that are kept besides the workspace's own
	}{
		{"a detached HEAD", []string{"checkout", "--quiet", "--detach"}, 0},
		{"a detached HEAD beside a branch that went on", []string{"checkout", "--quiet", "--detach", "HEAD~"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var repo string
			var tip string
			crashAtEach(t, crashCase{
				shallow: true,
				before: func(l *lab, m *Manager) Workspace {
					repo = l.repository("repo", map[string]string{"a": "a"})
					w := l.create(m, Request{Kind: Temp, From: repo})
					git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=on the branch")
					git(t, w.Path, test.work...)
					git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=work")
					tip = git(t, w.Path, "rev-parse", "HEAD")
					return w
				},
				do: func(ctx context.Context, m *Manager, w Workspace) error {
					out, err := m.Remove(ctx, w.ID, Removal{Force: true})
					if err == nil && (!strings.Contains(out.Kept, w.Source.Branch) || strings.Contains(out.Kept, " and ") != (test.others > 0)) {
						t.Errorf("kept: %q", out.Kept)
					}
					return err
				},
				after: func(l *lab, m *Manager, w Workspace, crashed string) {
					l.removeAgain(m, w, crashed)
					l.gone(m, w)
					branches := strings.Fields(git(t, repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/lamplighter"))
					if len(branches) != 1+test.others || !slices.Contains(branches, w.Source.Branch) {
						t.Errorf("branches: %q", branches)
					}
					if git(t, repo, "for-each-ref", "--contains="+tip) == "" {
						t.Error("the commit is lost")
					}
					if got := git(t, repo, "worktree", "list"); strings.Contains(got, "\n") {
						t.Errorf("worktrees: %s", got)
					}
				},
			})
		})
	}
}

// The ref that holds the commits of an archived workspace goes with it, unless they
// are nowhere else.
func TestRemoveArchivedWithCommits(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		l := newLab(t)
		m := l.manager(nil)
		repo := l.repository("repo", map[string]string{"a": "a"})
		w := l.create(m, Request{Kind: Temp, From: repo})
		git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=on the branch")
		git(t, w.Path, "checkout", "--quiet", "--detach", "HEAD~")
		git(t, w.Path, "commit", "--quiet", "--allow-empty", "--message=work")
		if _, err := m.Archive(t.Context(), w.ID, nil); err != nil {
			t.Fatal(err)
		}
		ref := "refs/lamplighter/" + w.ID
		if elsewhere {
			git(t, repo, "branch", "elsewhere", ref)
		}
		dry, err := m.Remove(t.Context(), w.ID, Removal{Force: true, DryRun: true})
		if err != nil || strings.Contains(dry.Kept, ref) == elsewhere {
			t.Errorf("%+v, %v", dry, err)
		}
		out, err := m.Remove(t.Context(), w.ID, Removal{Force: true})
		if err != nil || strings.Contains(out.Kept, ref) == elsewhere || !strings.Contains(out.Kept, w.Source.Branch) {
			t.Errorf("%+v, %v", out, err)
		}
		if got := git(t, repo, "for-each-ref", "refs/lamplighter"); (got == "") != elsewhere {
			t.Errorf("%v: %q", elsewhere, got)
		}
	}
}
