//go:build unix

package gitwork

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// trap is a program that leaves a mark when it is run, and where.
func trap(t *testing.T) (program, mark string) {
	t.Helper()
	dir := temp(t)
	program, mark = filepath.Join(dir, "trap"), filepath.Join(dir, "sprung")
	if err := os.WriteFile(program, []byte(fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>'%s'\ncat\n", mark)), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, mark
}

// unsprung checks that a trap has not been sprung.
func unsprung(t *testing.T, mark string) {
	t.Helper()
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("a program of the repository was run: %s", data)
	}
}

// everything does with a repository all that this package can.
func everything(t *testing.T, r Repo) {
	t.Helper()
	ctx := t.Context()
	dir := temp(t)
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.Add(ctx, filepath.Join(dir, "a"), "trap/a", head, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.Path, "read me.txt"), "changed\n")
	if _, err := r.Status(ctx, w.Path, w.Admin); err != nil {
		t.Error(err)
	}
	if err := r.Remove(ctx, w.Path, false); err == nil {
		t.Error("changes were removed")
	}
	if err := r.Remove(ctx, w.Path, true); err != nil {
		t.Error(err)
	}
	if w, err = r.Add(ctx, filepath.Join(dir, "b"), "trap/b", head, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(w.Path, ".git")); err != nil {
		t.Error(err)
	}
	if err := r.Forget(ctx, w.Admin, w.Path); err != nil {
		t.Error(err)
	}
	if w, err = r.Adopt(ctx, w.Path, "trap/b"); err != nil {
		t.Fatal(err)
	}
	if err := r.Remove(ctx, w.Path, true); err != nil {
		t.Error(err)
	}
	if dropped, err := r.DropBranch(ctx, "trap/b"); err != nil || !dropped {
		t.Error(dropped, err)
	}
}

func TestNothingOfARepositoryIsRun(t *testing.T) {
	r := repository(t)
	program, mark := trap(t)
	for _, name := range []string{"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "gpg.program", "diff.external", "core.alternateRefsCommand", "credential.helper", "pager.status"} {
		run(t, r.Top, "config", name, program)
	}
	run(t, r.Top, "config", "log.showSignature", "true")
	for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit", "post-rewrite", "fsmonitor-watchman"} {
		write(t, filepath.Join(r.Common, "hooks", hook), "")
		if err := os.Remove(filepath.Join(r.Common, "hooks", hook)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(r.Common, "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := Open(t.Context(), r.Top)
	if err != nil {
		t.Fatal(err)
	}
	everything(t, opened)
	unsprung(t, mark)
}

// Filters of the repository's own settings are run, as for whoever works in it,
// but not when it is a wary one.
func TestWary(t *testing.T) {
	for name, where := range map[string]func(r Repo, tree string) string{
		"config":   func(r Repo, _ string) string { return filepath.Join(r.Common, "config") },
		"included": func(r Repo, _ string) string { return filepath.Join(r.Common, "more config") },
		"worktree": func(_ Repo, admin string) string { return filepath.Join(admin, "config.worktree") },
	} {
		t.Run(name, func(t *testing.T) {
			r := repository(t)
			program, mark := trap(t)
			if name == "included" {
				run(t, r.Top, "config", "include.path", "more config")
			}
			if name == "worktree" {
				run(t, r.Top, "config", "extensions.worktreeConfig", "true")
			}
			w := add(t, r, "tree", "x")
			write(t, filepath.Join(w.Path, ".gitattributes"), "*.txt filter=trap.with.dots\n*.go filter=long\n")
			for _, setting := range []string{"trap.with.dots.clean", "long.process", "trap.with.dots.required"} {
				value := program
				if strings.HasSuffix(setting, "required") {
					value = "true"
				}
				run(t, r.Top, "config", "--file", where(r, w.Admin), "filter."+setting, value)
			}
			write(t, filepath.Join(w.Path, "read me.txt"), "eno\n") // of the same size, so that it has to be read
			write(t, filepath.Join(w.Path, "src", "a.go"), "package b\n")
			s, err := r.Wary().Status(t.Context(), w.Path, w.Admin)
			if err != nil || len(s.Uncommitted) != 3 {
				t.Errorf("%+v, %v", s, err)
			}
			if err := r.Wary().Remove(t.Context(), w.Path, false); err == nil {
				t.Error("changes were removed")
			}
			unsprung(t, mark)
			_, _ = r.Status(t.Context(), w.Path, w.Admin)
			if _, err := os.Stat(mark); err != nil {
				t.Errorf("the trap is none: %v", err)
			}
		})
	}
}

func TestWaryOfOddNames(t *testing.T) {
	r := repository(t)
	program, mark := trap(t)
	w := add(t, r, "tree", "x")
	write(t, filepath.Join(w.Path, ".gitattributes"), "*.txt filter=a=b\n")
	write(t, filepath.Join(r.Common, "config"), "[core]\nrepositoryformatversion = 0\n[filter \"a=b\"]\nclean = "+program+"\n")
	write(t, filepath.Join(w.Path, "read me.txt"), "eno\n")
	if s, err := r.Wary().Status(t.Context(), w.Path, w.Admin); err == nil {
		t.Errorf("%+v", s)
	}
	unsprung(t, mark)
}

// hostile is a repository whose settings run a program at whatever is asked.
func hostile(t *testing.T, dir, program string) {
	t.Helper()
	write(t, filepath.Join(dir, ".gitattributes"), "* filter=trap\n")
	write(t, filepath.Join(dir, "file"), "x")
	run(t, filepath.Dir(dir), "init", "-q", "-b", "main", dir)
	commit(t, dir, "hostile")
	run(t, dir, "config", "core.fsmonitor", program)
	run(t, dir, "config", "filter.trap.clean", program)
	write(t, filepath.Join(dir, "file"), "y")
}

// A job has put a repository of its own in the place of its worktree's .git.
func TestSwappedGit(t *testing.T) {
	r := repository(t)
	program, mark := trap(t)
	evil := filepath.Join(temp(t), "evil")
	hostile(t, evil, program)
	for name, swap := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Rename(filepath.Join(evil, ".git"), path) },
		"link":      func(path string) error { return os.Symlink(filepath.Join(r.Common, "worktrees", "link"), path) },
		"file":      func(path string) error { return os.WriteFile(path, []byte("gitdir: "+evil+"/.git\n"), 0o644) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"long":      func(path string) error { return os.WriteFile(path, make([]byte, smallFile+1), 0o644) },
		"nothing":   func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"admin": func(path string) error { // looks like a worktree's own, and leads to another repository
			own := filepath.Join(r.Common, "worktrees", "forged")
			write(t, filepath.Join(own, "commondir"), evil+"/.git\n")
			write(t, filepath.Join(own, "gitdir"), path+"\n")
			write(t, filepath.Join(own, "HEAD"), "ref: refs/heads/main\n")
			return os.WriteFile(path, []byte("gitdir: "+own+"\n"), 0o644)
		},
	} {
		w := add(t, r, name, name)
		path := filepath.Join(w.Path, ".git")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := swap(path); err != nil {
			t.Fatal(err)
		}
		for _, admin := range []string{w.Admin, ""} {
			if s, err := r.Status(t.Context(), w.Path, admin); err == nil {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if err := r.Remove(t.Context(), w.Path, true); err == nil {
			t.Errorf("%s: it was removed", name)
		}
		unsprung(t, mark)
		// What git remembers of it can be forgotten nevertheless.
		if err := r.Forget(t.Context(), w.Admin, w.Path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.RemoveAll(filepath.Join(r.Common, "worktrees", "forged")); err != nil {
			t.Fatal(err)
		}
	}
}

// A job has put a repository of its own in the place of a submodule.
func TestSwappedSubmodule(t *testing.T) {
	r := repository(t)
	program, mark := trap(t)
	run(t, r.Top, "submodule", "--quiet", "add", library(t), "lib")
	commit(t, r.Top, "with a library")
	for i, swap := range []func(sub string){
		func(sub string) { hostile(t, sub, program) },
		func(sub string) {
			evil := filepath.Join(temp(t), "evil")
			hostile(t, evil, program)
			write(t, filepath.Join(sub, ".git"), "gitdir: "+evil+"/.git\n")
			write(t, filepath.Join(sub, "file"), "z")
		},
		func(sub string) {
			run(t, filepath.Dir(sub), "submodule", "--quiet", "update", "--init")
			run(t, sub, "config", "core.fsmonitor", program)
			run(t, sub, "config", "filter.trap.clean", program)
			write(t, filepath.Join(sub, ".gitattributes"), "* filter=trap\n")
			write(t, filepath.Join(sub, "lib.go"), "package bil\n")
		},
	} {
		w := add(t, r, fmt.Sprint("tree", i), fmt.Sprint("x", i))
		swap(filepath.Join(w.Path, "lib"))
		for _, r := range []Repo{r, r.Wary()} {
			s, err := r.Status(t.Context(), w.Path, w.Admin)
			if err != nil || len(s.Submodules) != 1 {
				t.Errorf("%d: %+v, %v", i, s, err)
			}
		}
		unsprung(t, mark)
	}
}

// What a repository lacks is not fetched, whatever its settings allow: a remote may
// be a program, git-remote-ext(1).
func TestNothingIsFetched(t *testing.T) {
	r := repository(t)
	program, mark := trap(t)
	w := add(t, r, "tree", "tree")
	for name, value := range map[string]string{
		"remote.origin.url": "ext::" + program, "remote.origin.promisor": "true", "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
		"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "protocol.ext.allow": "always", "protocol.allow": "always",
	} {
		run(t, r.Top, "config", name, value)
	}
	lost := run(t, r.Top, "rev-parse", "HEAD^{tree}")
	if err := os.Remove(filepath.Join(r.Common, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.Path, "read me.txt"), "changed\n")
	if s, err := r.Status(t.Context(), w.Path, w.Admin); err == nil {
		t.Errorf("%+v", s)
	}
	if words, err := Work(t.Context(), r.Top); err == nil && words == "" {
		t.Error("nothing would be lost")
	}
	unsprung(t, mark)
}
