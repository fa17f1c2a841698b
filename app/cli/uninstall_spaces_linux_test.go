package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/workspace"
)

// Workspaces stay; with --purge they go, unless something stands against it.
func TestUninstallWorkspaces(t *testing.T) {
	const id = "0198c7a1-0000-7000-8000-00001a2b3c4d"
	for name, test := range map[string]struct {
		args    string
		outcome workspace.Outcome
		status  int
		gone    bool
		removed bool
		said    string
	}{
		"they stay":         {args: "uninstall", gone: true, said: "Workspaces elsewhere stay, too:\n  ~/trees/alpha-fix\n"},
		"nothing is lost":   {args: "uninstall --purge", gone: true, removed: true},
		"something is":      {args: "uninstall --purge", outcome: workspace.Outcome{Why: "alpha-fix: 2 files are not committed", Loss: &workspace.Loss{Words: "2 files"}}, status: statusFailed, said: "alpha-fix: 2 files are not committed; leave --purge out, and they stay; or add --force, and what would be lost is\n"},
		"somebody is in":    {args: "uninstall --purge --force", outcome: workspace.Outcome{Why: "alpha-fix: sh (4711) works in it", Loss: &workspace.Loss{}}, status: statusFailed, said: "alpha-fix: sh (4711) works in it; leave --purge out, and they stay\n"},
		"lost all the same": {args: "uninstall --purge --force", gone: true, removed: true},
	} {
		m := newMachine(t)
		m.says(t, statusFine, "install", "--no-start")
		f := &fakeSpaces{list: []workspace.Workspace{{ID: id, Name: "alpha-fix", Path: m.home("trees", "alpha-fix")}}, outcome: test.outcome}
		m.spaces = func() (workspaceManager, error) { return f, nil }
		out, failed := m.says(t, test.status, strings.Fields(test.args)...)
		if !strings.Contains(out+failed, test.said) {
			t.Errorf("%s: said %s%s", name, out, failed)
		}
		if gone := !slices.Contains(m.files(t), ".local/bin/lamplighter"); gone != test.gone {
			t.Errorf("%s: gone %v, said %s%s", name, gone, out, failed)
		}
		removed := slices.ContainsFunc(f.asked, func(asked string) bool { return strings.Contains(asked, "DryRun:false") })
		if removed != test.removed {
			t.Errorf("%s: asked %q", name, f.asked)
		}
	}
	m := newMachine(t)
	m.says(t, statusFine, "install", "--no-start")
	f := &fakeSpaces{listErr: workspace.ErrBusy}
	m.spaces = func() (workspaceManager, error) { return f, nil }
	_, failed := m.says(t, statusFailed, "uninstall", "--purge")
	apptest.Contains(t, failed, "the workspaces cannot be seen")
}

// What nobody can judge is named and stays, by force too, and stands in the way of
// nothing but --purge.
func TestUninstallWhatNoRecordTellsOf(t *testing.T) {
	for name, test := range map[string]struct {
		at   string // a file in the folder of workspaces
		text string
		said string // "" for nothing to stand against
	}{
		"a tree":           {at: "trees/alpha-fix-1a2b3c4d/thesis.txt", said: "no record tells what this is: ~/.local/state/lamplighter/workspaces/trees/alpha-fix-1a2b3c4d. Move it away, or remove it by hand"},
		"a file":           {at: "trees/thesis.txt", said: "trees/thesis.txt"},
		"versions":         {at: "data/0198c7a1-0000-7000-8000-00001a2b3c4d/versions/1", said: "data/0198c7a1-0000-7000-8000-00001a2b3c4d"},
		"an archive":       {at: "archives/alpha-fix-1a2b3c4d.tar.zst", said: "archives/alpha-fix-1a2b3c4d.tar.zst"},
		"a broken record":  {at: "records/0198c7a1-0000-7000-8000-00001a2b3c4d.json", text: "rubbish", said: "the workspaces cannot be seen: reading "},
		"what keeps order": {at: "locks/store.lock"},
	} {
		m := newMachine(t)
		m.says(t, statusFine, "install", "--no-start")
		dir := m.home(".local", "state", "lamplighter", "workspaces")
		path := filepath.Join(dir, filepath.FromSlash(test.at))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Mkdir(filepath.Join(dir, "trees"), 0o700), os.WriteFile(path, []byte(test.text), 0o600)); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
		status := statusFine
		if test.said != "" {
			status = statusFailed
		}
		out, failed := m.says(t, status, "uninstall", "--purge", "--dry-run")
		if !strings.Contains(failed, test.said) {
			t.Errorf("%s: the dry run said %s%s", name, out, failed)
		}
		if status == statusFailed {
			before := m.files(t)
			for _, args := range []string{"uninstall --purge", "uninstall --purge --force"} {
				if out, failed = m.says(t, status, strings.Fields(args)...); !strings.Contains(failed, test.said) || strings.Contains(failed, "or add --force") || !slices.Equal(m.files(t), before) {
					t.Errorf("%s: %s: said %s%s", name, args, out, failed)
				}
			}
			out, _ = m.says(t, statusFine, "uninstall")
			if !slices.Contains(m.files(t), ".local/state/lamplighter/workspaces/"+test.at) || slices.Contains(m.files(t), ".local/bin/lamplighter") {
				t.Errorf("%s: left %q, said %s", name, m.files(t), out)
			}
			apptest.Contains(t, out, "The workspaces stay: ~/.local/state/lamplighter/workspaces\n")
			continue
		}
		m.says(t, statusFine, "uninstall", "--purge")
		if left := m.files(t); len(left) != 0 {
			t.Errorf("%s: left %q", name, left)
		}
	}
}

// What a record tells of goes with it, wherever it is told to be, and what comes
// meanwhile stays.
func TestUninstallStrays(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	for _, path := range []string{"trees/a-1", "trees/.a-1.trash", "trees/in/b-2", "trees/in/mine", "trees/in/empty", "data/id-a", "data/id-c", "archives"} {
		if err := os.MkdirAll(filepath.Join(dir, path), 0o700); err != nil {
			t.Fatal(err)
		}
		if path == "trees/in/empty" || path == "archives" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, path, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(dir, link), os.WriteFile(filepath.Join(dir, "archives", "d.tar.zst"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	list := []workspace.Workspace{
		{ID: "id-a", Path: filepath.Join(link, "trees", "a-1")}, {ID: "id-b", Path: filepath.Join(dir, "trees", "in", "b-2")},
		{ID: "id-d", Path: "/elsewhere/d", Archive: &workspace.Archive{Path: filepath.Join(dir, "archives", "d.tar.zst")}},
	}
	found, err := strays(dir, list)
	if want := []string{filepath.Join(dir, "trees", "in", "mine"), filepath.Join(dir, "data", "id-c")}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v", found, err)
	}
	if found, err = strays(filepath.Join(dir, "nothing"), list); err != nil || len(found) != 0 {
		t.Errorf("%q, %v", found, err)
	}
}
