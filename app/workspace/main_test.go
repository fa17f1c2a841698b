package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/app/workspace/inuse"
)

// helperVariable names what a test binary that was started by a test is to do
// instead of testing, see helpers.
const helperVariable = "LAMPLIGHTER_WORKSPACE_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVariable); name != "" {
		do := helpers()[name]
		if do == nil {
			os.Exit(3)
		}
		os.Exit(do())
	}
	goleak.VerifyTestMain(m)
}

// lab is a store in a temporary directory, with a clock that stands still until it is
// told to go on, and processes that are said to work somewhere.
type lab struct {
	t   testing.TB
	dir string // a place for what a test needs, without links in its path
	o   Options

	places []string // where trees are made besides the usual place, see sound

	mu      sync.Mutex
	now     Stamp
	working map[string][]inuse.Process // by directory
	log     bytes.Buffer
}

// newLab is a lab at noon of a day, an hour after its boot.
func newLab(t testing.TB) *lab {
	t.Helper()
	return newLabIn(t, t.TempDir())
}

func newLabIn(t testing.TB, dir string) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{
		t: t, dir: dir, working: map[string][]inuse.Process{},
		now: Stamp{Wall: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Boot: "boot", SinceBoot: time.Hour},
	}
	l.o = Options{
		Dir: filepath.Join(dir, "store"), By: "a test", Clock: l.clock, InUse: l.inUse,
		Log: slog.New(slog.NewTextHandler(&locked{l: l}, nil)),
	}
	return l
}

// manager is a Manager on the lab's store, with options changed by change, which may be nil.
func (l *lab) manager(change func(*Options)) *Manager {
	o := l.o
	if change != nil {
		change(&o)
	}
	return New(o)
}

// Touch writes down that a workspace is used now, as each verb of ours does.
func (m *Manager) Touch(ctx context.Context, id string) error {
	return m.change(ctx, id, func(r *record) error {
		m.touch(r)
		return nil
	})
}

func (l *lab) clock() Stamp {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// passes lets time pass by all clocks.
func (l *lab) passes(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.Wall, l.now.SinceBoot = l.now.Wall.Add(d), l.now.SinceBoot+d
}

// set sets the clocks as change does: the wall clock alone, or another boot.
func (l *lab) set(change func(*Stamp)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.now)
}

// works says that processes work in a directory, or that none does.
func (l *lab) works(dir string, processes ...inuse.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working[dir] = processes
}

func (l *lab) inUse(_ context.Context, dir string) ([]inuse.Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.working[dir]), nil
}

// logged is what was logged so far.
func (l *lab) logged() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

// locked writes to the log of a lab.
type locked struct{ l *lab }

func (w *locked) Write(p []byte) (int, error) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	return w.l.log.Write(p)
}

// path is a path in the lab.
func (l *lab) path(name string) string { return filepath.Join(l.dir, filepath.FromSlash(name)) }

// source makes a directory with files, see write.
func (l *lab) source(name string, files map[string]string) string {
	l.t.Helper()
	dir := l.path(name)
	write(l.t, dir, files)
	return dir
}

// create makes a workspace, which has to work.
func (l *lab) create(m *Manager, q Request) Workspace {
	l.t.Helper()
	if q.Job == "" {
		q.Job = "job"
	}
	if q.Kind == "" {
		q.Kind = Persistent
	}
	w, err := m.Create(l.t.Context(), q, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return w
}

// record is the record of a workspace as it is on disk.
func (l *lab) record(m *Manager, id string) *record {
	l.t.Helper()
	r, err := m.store.read(id)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// repository makes a git repository with one commit of the files on the branch
// main, and one file that is ignored if there is a .gitignore that says so.
func (l *lab) repository(name string, files map[string]string) string {
	l.t.Helper()
	dir := l.source(name, files)
	git(l.t, dir, "init", "--quiet", "--initial-branch=main")
	git(l.t, dir, "add", "--all")
	git(l.t, dir, "commit", "--quiet", "--message=first")
	return dir
}

// git runs git in a directory without the settings of whoever runs the test, and
// returns what it prints, trimmed. It has to work.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GIT_") }),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", // a process less for each commit
		"GIT_AUTHOR_NAME=Author", "GIT_AUTHOR_EMAIL=author@example.com",
		"GIT_COMMITTER_NAME=Author", "GIT_COMMITTER_EMAIL=author@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes files below dir, which is made. A name that ends with / is a
// directory, a content that begins with "-> " is where a symbolic link leads.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		parent := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			parent = path
		}
		err := os.MkdirAll(parent, 0o700)
		switch to, link := strings.CutPrefix(content, "-> "); {
		case err != nil || parent == path:
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// content is what is below dir, as write takes it, without the .git of a worktree.
// Of directories only empty ones are named. A dir that is not there is nil.
func content(t testing.TB, dir string) map[string]string {
	t.Helper()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case name == ".git" && d.IsDir():
			return fs.SkipDir
		case name == ".git":
		case d.IsDir():
			entries, err := os.ReadDir(path)
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				files[name+"/"] = ""
			}
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			files[name] = "-> " + to
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[name] = string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// names are the names in a directory, none when it is not there.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var list []string
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}
