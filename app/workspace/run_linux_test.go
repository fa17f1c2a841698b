package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/workspace/confine"
)

// A job is set up by our program, which is the test's here.
func init() {
	if inside, status := confine.Main(os.Args[1:]); inside {
		os.Exit(status)
	}
}

// elsewhere is a lab that is not where temporary files are, which a confined job
// does not see.
func elsewhere(t *testing.T) *lab {
	t.Helper()
	dir, err := os.MkdirTemp("/var/lib", "workspace")
	if err != nil { // we are not root, then
		dir, err = os.MkdirTemp(".", "workspace")
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	return newLab(t)
}

// forCommits lets jobs commit, as nobody in particular.
func forCommits(t *testing.T, l *lab) {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com", "HOME": l.source("home", nil),
	} {
		t.Setenv(name, value)
	}
}

func TestRunConfined(t *testing.T) {
	l := elsewhere(t)
	m := l.manager(nil)
	forCommits(t, l)
	repository := l.repository("repository", map[string]string{"file": "first\n", ".gitignore": "/modules\n", "modules/m": "m"})
	in := l.source("in", nil)
	w := l.create(m, Request{Kind: Persistent, Job: "own", From: repository, Share: []string{"modules"}})
	other := l.create(m, Request{Kind: Persistent, Job: "other", In: in})
	third := l.create(m, Request{Kind: Persistent, Job: "third"})
	extra := l.source("extra", nil)
	common := filepath.Join(repository, ".git")
	for what, test := range map[string]struct {
		script string
		want   bool
	}{
		"commits":                   {"echo more >> file && git add file && git commit -qm second", true},
		"commits again":             {"echo most >> file && git commit -qam third", true},
		"makes a branch":            {"git branch lamplighter/more", true},
		"moves main":                {"git branch -f main HEAD", false},
		"makes a tag":               {"git tag mine", false},
		"writes settings":           {"git config core.hooksPath /tmp/x", false},
		"writes settings by hand":   {"echo '[core]' >> " + common + "/config", false},
		"writes a hook":             {"mkdir -p " + common + "/hooks && echo x > " + common + "/hooks/post-commit", false},
		"writes packed refs":        {"git pack-refs --all", false},
		"leads git elsewhere":       {"echo 'gitdir: /tmp/x' > .git", false},
		"puts a repository there":   {"rm -f .git && git init -q .", false},
		"leads the worktree away":   {"echo /tmp/x > $(git rev-parse --git-dir)/commondir", false},
		"writes the main tree":      {"echo x > " + repository + "/file", false},
		"reads a share":             {"test $(cat modules/m) = m", true},
		"writes a share":            {"echo x > modules/m", false},
		"sees another one":          {"ls " + other.Path + "/* " + other.Path + "/.??* 2>&1 | grep -v 'No such' | grep .", false},
		"writes another one":        {"touch " + other.Path + "/x", false},
		"sees the third":            {"test -e " + third.Path, false},
		"sees records":              {"ls " + m.store.path(recordsDir), false},
		"sees others' data":         {"ls " + m.store.data(third.ID), false},
		"writes its environment":    {"echo x > " + w.EnvFile, false},
		"reads it":                  {". " + w.EnvFile, true},
		"writes TMPDIR":             {"echo x > $TMPDIR/x && test -e /tmp/x", true},
		"writes what is named":      {"echo x > " + extra + "/x", true},
		"writes the home directory": {"touch $HOME/x", false},
		"runs out of its tree":      {"cp $(which true) t && ./t", true},
	} {
		t.Run(what, func(t *testing.T) {
			status, _, out := sh(t, m, w.ID, Job{Confine: true, Commit: true, Writable: []string{extra}}, test.script)
			if (status == 0) != test.want {
				t.Errorf("%d: %s", status, out)
			}
		})
	}
	if subject := git(t, w.Path, "log", "--format=%s", "main"); subject != "first" {
		t.Errorf("main: %q", subject)
	}
	if names := names(t, other.Path); len(names) != 0 {
		t.Errorf("%q", names)
	}
	for path, want := range map[string]string{filepath.Join(repository, "file"): "first\n", filepath.Join(repository, "modules/m"): "m"} {
		if data, err := os.ReadFile(path); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	if config := git(t, repository, "config", "--list", "--local"); strings.Contains(config, "hookspath") {
		t.Error(config)
	}
}

// A confined job writes nothing of the repository unless it may commit.
func TestRunConfinedReadsGit(t *testing.T) {
	l := elsewhere(t)
	m := l.manager(nil)
	forCommits(t, l)
	repository := l.repository("repository", map[string]string{"file": "first\n"})
	w := l.create(m, Request{Kind: Persistent, From: repository})
	admin := git(t, w.Path, "rev-parse", "--absolute-git-dir")
	all := func() string {
		var list []string
		err := filepath.WalkDir(filepath.Join(repository, ".git"), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				list = append(list, path)
				return err
			}
			data, err := os.ReadFile(path)
			list = append(list, fmt.Sprintf("%s %q", path, data))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(list, "\n")
	}
	before := all()
	for what, test := range map[string]struct {
		script string
		want   bool
	}{
		"looks":                   {"echo more >> file && git status --short && git diff && git log", true},
		"would refresh nothing":   {"test $GIT_OPTIONAL_LOCKS = 0", true},
		"stages":                  {"git add file", false},
		"commits":                 {"git commit --allow-empty -qm second", false},
		"makes a branch":          {"git branch lamplighter/more", false},
		"removes objects":         {"rm -rf " + repository + "/.git/objects/*", false},
		"makes an object":         {"echo x | git hash-object -w --stdin", false},
		"writes its directory":    {"touch " + admin + "/x", false},
		"has settings of its own": {"touch " + admin + "/config.worktree", false},
	} {
		if status, _, out := sh(t, m, w.ID, Job{Confine: true}, test.script); (status == 0) != test.want {
			t.Errorf("%s: %d: %s", what, status, out)
		}
	}
	if after := all(); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
}

// What a job leaves in settings is not run outside when it has ended.
func TestRunConfinedLeavesNoSettings(t *testing.T) {
	l := elsewhere(t)
	m := l.manager(nil)
	forCommits(t, l)
	repository := l.repository("repository", map[string]string{"file": "first\n"})
	git(t, repository, "config", "extensions.worktreeConfig", "true") // as git sparse-checkout does
	mark := l.path("home/escaped")
	own := git(t, repository, "rev-parse", "--absolute-git-dir") // of settings that whoever else has changed
	for what, file := range map[string]string{"of the worktree": "$(git rev-parse --git-dir)/config.worktree", "of the repository": own + "/config"} {
		w := l.create(m, Request{Kind: Temp, From: repository})
		script := `printf '[filter "x"]\n\tclean = "touch ` + mark + `; cat"\n' >> ` + file + `; echo '* filter=x' > .gitattributes; printf other > file`
		j := Job{Confine: true, Commit: true}
		if file == own+"/config" {
			j = Job{}
		}
		status, outcome, out := sh(t, m, w.ID, j, script)
		if status != 0 || outcome == nil || outcome.Done {
			t.Errorf("%s: %d, %+v, %s", what, status, outcome, out)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: we have run the job's program", what)
		}
	}
}

// Git writes nowhere else after a job that has left links.
func TestRunConfinedLeavesNoLinks(t *testing.T) {
	l := elsewhere(t)
	m := l.manager(nil)
	forCommits(t, l)
	precious := filepath.Join(l.source("precious", map[string]string{"file": "precious"}), "file")
	repository := l.repository("repository", map[string]string{"file": "first\n"})
	w := l.create(m, Request{Kind: Persistent, From: repository})
	branches := filepath.Join(repository, ".git/logs/refs/heads/lamplighter")
	status, _, out := sh(t, m, w.ID, Job{Confine: true, Commit: true}, `set -e
d=$(git rev-parse --git-dir) p=$1 b=$2
ln -sf $p $d/COMMIT_EDITMSG; rm $d/logs/HEAD; ln -s $p $d/logs/HEAD; mkfifo $d/ORIG_HEAD
rm -r $b/*; mkdir -p $b/in; ln -s $p $b/in/log; ln -s $(dirname $p) $b/dir
echo more > file; git add file`, precious, branches)
	if status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	for _, dir := range []string{git(t, w.Path, "rev-parse", "--absolute-git-dir"), branches} {
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !entry.Type().IsRegular() {
				t.Errorf("%s is left", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	git(t, w.Path, "commit", "--quiet", "--message=by the user")
	if data, err := os.ReadFile(precious); err != nil || string(data) != "precious" {
		t.Errorf("%q, %v", data, err)
	}
}

// What leads git to its settings has to be files to be kept from a job.
func TestRunConfinedWithoutSettings(t *testing.T) {
	l := elsewhere(t)
	m := l.manager(nil)
	forCommits(t, l)
	w := l.create(m, Request{Kind: Persistent, From: l.repository("repository", map[string]string{"file": "first\n"})})
	own := filepath.Join(git(t, w.Path, "rev-parse", "--absolute-git-dir"), "config.worktree")
	if err := os.Symlink(w.EnvFile, own); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Run(t.Context(), w.ID, Job{Command: []string{"true"}, Confine: true, Commit: true}); err == nil || !strings.Contains(err.Error(), "config.worktree") {
		t.Error(err)
	}
	if status, _, out := sh(t, m, w.ID, Job{Confine: true}, "true"); status != 0 {
		t.Errorf("%d: %s", status, out)
	}
}

// A job that is not confined writes where it likes, but for what is shared.
func TestRunWithShare(t *testing.T) {
	l := elsewhere(t)
	m := l.manager(nil)
	source := l.source("source", map[string]string{"modules/m": "m", "file": "x"})
	w := l.create(m, Request{From: source, Share: []string{"modules"}})
	for script, want := range map[string]bool{
		"echo x > modules/m":                    false,
		"cat modules/m":                         true,
		"echo x > file":                         true,
		fmt.Sprintf("echo y > %s/file", source): true,
	} {
		warned := ""
		status, _, out := sh(t, m, w.ID, Job{Warn: func(text string) { warned = text }}, script)
		if (status == 0) != want || warned != "" {
			t.Errorf("%s: %d, %s, %s", script, status, out, warned)
		}
	}
}
