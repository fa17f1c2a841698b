package inuse

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// run starts a shell command that says "ready" and then waits; it ends with the
// test. The function that it returns ends it before.
func run(t *testing.T, dir, script string, args ...string) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command("bash", append([]string{"-c", script, "bash"}, args...)...)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			_ = cmd.Wait() // some are killed by what they wait for
		}
	}
	t.Cleanup(end)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("it said %q, %v", line, err)
	}
	return cmd.Process.Pid, end
}

// want checks how a process works inside of dir; "" is not at all.
func want(t *testing.T, dir string, pid int, how string) {
	t.Helper()
	found, err := In(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range found {
		if p.PID == pid {
			got = p.How
			if p.Name == "" {
				t.Errorf("%d has no name", pid)
			}
		}
	}
	if got != how {
		t.Errorf("process %d %q, want %q; found %v", pid, got, how, found)
	}
}

// resolved is a directory for a test, without links in its path.
func resolved(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

const ready = "echo ready; read x"

func TestWorksInside(t *testing.T) {
	dir := resolved(t)
	odd := filepath.Join(dir, "odd\nname with (deleted)")
	for _, d := range []string{odd, dir + "2"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir+"/log", "text")
	pid, end := run(t, dir, ready)
	want(t, dir, pid, "works in "+dir)
	end()
	want(t, dir, pid, "")

	pid, _ = run(t, odd, ready)
	want(t, dir, pid, "works in "+odd)
	want(t, dir+"2/../"+filepath.Base(dir), pid, "works in "+odd)
	pid, _ = run(t, "/", `exec 7<"$1"; `+ready, dir+"/log")
	want(t, dir, pid, "has "+dir+"/log open")
	pid, _ = run(t, dir+"2", ready)
	want(t, dir, pid, "") // its name only begins in the same way
}

func TestThroughALink(t *testing.T) {
	dir := resolved(t)
	if err := os.Symlink(dir, dir+"-link"); err != nil {
		t.Fatal(err)
	}
	pid, _ := run(t, dir+"-link", ready)
	want(t, dir, pid, "works in "+dir)
	want(t, dir+"-link", pid, "works in "+dir)
}

func TestRemovedAndRenamed(t *testing.T) {
	dir := resolved(t)
	inner := dir + "/a/b"
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/log", "text")
	gone, _ := run(t, inner, ready)
	open, _ := run(t, "/", `exec 7<"$1"; `+ready, dir+"/log")
	if err := errors.Join(os.Remove(inner), os.Remove(dir+"/log")); err != nil {
		t.Fatal(err)
	}
	want(t, dir, gone, "works in "+inner+" (deleted)")
	want(t, dir, open, "has "+dir+"/log (deleted) open")
	want(t, inner, gone, "") // it is not there
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	want(t, dir+".away", open, "has "+dir+".away/log (deleted) open")
}

func TestRunsAProgram(t *testing.T) {
	dir := resolved(t)
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/tool", string(data))
	cmd := exec.Command(dir+"/tool", "600")
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	want(t, dir, cmd.Process.Pid, "runs "+dir+"/tool")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// A file may be mapped without being open.
func TestMappedFile(t *testing.T) {
	dir := resolved(t)
	path := dir + "/base\nof data"
	write(t, path, strings.Repeat("x", 1<<13))
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, 1<<13, unix.PROT_READ, unix.MAP_PRIVATE)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	s := search{dir: dir}
	n := s.named([]string{dir})
	if how := s.mapped("/proc/self", n); how != "has "+dir+`/base\012of data open` {
		t.Errorf("%q", how)
	}
	s.buffer = make([]byte, 300) // lines are cut anywhere
	if how := s.mapped("/proc/self", n); how == "" {
		t.Error("it is not found in pieces")
	}
	if how := s.mapped("/proc/self", s.named([]string{dir + "/bas", dir[:len(dir)-1]})); how != "" {
		t.Errorf("of another name: %q", how)
	}
}

func TestOurselves(t *testing.T) {
	dir := resolved(t)
	t.Chdir(dir)
	write(t, dir+"/log", "text")
	inside, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	want(t, dir, os.Getpid(), "")
	file, err := os.Open(dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	want(t, dir, os.Getpid(), "has "+dir+"/log open")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, dir, os.Getpid(), "")
}

func TestOtherMountNamespace(t *testing.T) {
	dir := resolved(t)
	if err := os.Mkdir(dir+"/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/log", "text")
	away := resolved(t)
	for name, test := range map[string]struct{ bind, script, how string }{
		"in it":              {dir, `cd "$2"; ` + ready, "works in " + away},
		"below it":           {dir + "/sub", `cd "$2"; ` + ready, "works in " + away},
		"around it":          {filepath.Dir(dir), `cd "$2/$3/sub"; ` + ready, "works in " + away + "/" + filepath.Base(dir) + "/sub"},
		"a file":             {dir, `exec 7<"$2/log"; ` + ready, "has " + away + "/log open"},
		"elsewhere":          {dir, ready, ""},
		"mounted and hidden": {dir, `cd "$2"; mount --bind / "$2"; ` + ready, "works in " + away},
	} {
		t.Run(name, func(t *testing.T) {
			script := `exec unshare --user --map-root-user --mount bash -c 'mount --bind "$1" "$2" || exit; ` + test.script + `' bash "$@"`
			pid, _ := run(t, "/", script, test.bind, away, filepath.Base(dir))
			want(t, dir, pid, test.how)
		})
	}
}

// A process that does not let itself be looked at counts by its command line.
func TestUnreadable(t *testing.T) {
	dir := resolved(t)
	s := search{dir: dir, names: map[string]names{}}
	s.names[""] = s.named([]string{dir})
	base := t.TempDir()
	for text, how := range map[string]string{
		"/usr/bin/tail\x00-f\x00" + dir + "/log\x00": "was started on " + dir + "/log",
		dir + "/tool\x00":              "runs " + dir + "/tool",
		"tail\x00log\x00":              "",
		"tail\x00" + dir + "2\x00":     "",
		"tail\x00" + dir + "/../x\x00": "",
		"":                             "",
	} {
		write(t, base+"/cmdline", text)
		if got := s.started(base); got != how {
			t.Errorf("%q: %q, want %q", text, got, how)
		}
	}
}

func TestNoSuchDirectory(t *testing.T) {
	dir := resolved(t)
	if found, err := In(t.Context(), dir+"/none"); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	write(t, dir+"/file", "")
	if _, err := In(t.Context(), dir+"/file"); err == nil {
		t.Error("a file is no directory")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := In(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

func BenchmarkIn(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if _, err := In(context.Background(), dir); err != nil {
			b.Fatal(err)
		}
	}
}
