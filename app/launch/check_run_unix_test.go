//go:build unix

package launch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/programtest"
)

// script writes a program for sh and returns its path.
func script(t *testing.T, path, text string) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.TempDir(), path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := programtest.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// asked runs a script to its end, or to the limit.
func asked(t *testing.T, text string, change func(*run)) outcome {
	t.Helper()
	r := run{command: []string{script(t, "program", text)}, env: []string{"PATH=/usr/bin:/bin"}, dir: "/", mark: newMark(), limit: time.Minute}
	if change != nil {
		change(&r)
	}
	o, err := execute(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestExecute(t *testing.T) {
	o := asked(t, `echo out; echo err >&2; read x && echo "got $x"; test -t 0 || echo no terminal; exit 3`, nil)
	if o.stdout != "out\nno terminal\n" || o.stderr != "err\n" || o.code != 3 || o.timedOut || o.startErr != nil {
		t.Errorf("got %+v", o)
	}
	if o := asked(t, "kill -SEGV $$", nil); o.code != -1 || !strings.Contains(o.ended, "segmentation") {
		t.Errorf("got %+v", o)
	}
}

func TestExecuteKeepsTheEndOfAFlood(t *testing.T) {
	o := asked(t, `head -c 100000000 /dev/zero | tr '\0' x >&2; echo end >&2; head -c 300000 /dev/zero; echo Serena 2.1.0`, nil)
	if !strings.HasSuffix(o.stderr, "xend\n") || !strings.HasSuffix(o.stdout, "Serena 2.1.0\n") || len(o.stderr) > mostOutput || len(o.stdout) > mostOutput {
		t.Errorf("kept %d and %d bytes, code %d", len(o.stdout), len(o.stderr), o.code)
	}
}

// withTime does what is ended after a short time, and again with more of it, until
// that was enough to begin: then so many pids are in the file whose name it returns.
func withTime(t *testing.T, pids int, do func(limit time.Duration) (file string)) {
	t.Helper()
	const most = 2 * time.Minute
	for limit := 300 * time.Millisecond; ; limit *= 2 {
		data, err := os.ReadFile(do(limit))
		switch {
		case err == nil && len(strings.Fields(string(data))) >= pids:
			return
		case limit > most:
			t.Fatalf("after %v there is %q, %v", limit, data, err)
		}
	}
}

// gone waits until a process whose pid a script has written is no more.
func gone(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for field := range strings.FieldsSeq(string(data)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, "the end of "+field, func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

func TestExecuteEndsAllOfIt(t *testing.T) {
	for _, test := range []struct {
		name, text string
		pids       int // that it writes
		hangs      bool
	}{
		{"hangs", `echo $$ >"$PIDS"; exec sleep 1000`, 1, true},
		{"ignores TERM, with children", `trap '' TERM HUP INT; (sleep 1000 & echo $! >>"$PIDS"; sleep 1000) & echo $$ $! >>"$PIDS"; wait`, 3, true},
		{"floods without end", `echo $$ >"$PIDS"; exec yes`, 1, true},
		{"forks and ends", `sleep 1000 & echo $! >"$PIDS"; echo done`, 1, false},
		{"forks, ends, and the child has closed its output", `sleep 1000 >/dev/null 2>&1 & echo $! >"$PIDS"; echo done`, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var pids string
			withTime(t, test.pids, func(limit time.Duration) string {
				pids = filepath.Join(t.TempDir(), "pids")
				o := asked(t, test.text, func(r *run) {
					r.env = append(r.env, "PIDS="+pids)
					if test.hangs {
						r.limit = limit
					}
				})
				if o.timedOut != test.hangs {
					t.Errorf("got %+v", o)
				}
				return pids
			})
			gone(t, pids)
		})
	}
}

func TestExecuteEndsWithTheContext(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	program := script(t, "program", `echo $$ >"$PIDS.new"; mv "$PIDS.new" "$PIDS"; exec sleep 1000`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := execute(ctx, run{command: []string{program}, env: []string{"PATH=/usr/bin:/bin", "PIDS=" + pids}, dir: "/", mark: newMark(), limit: time.Minute})
		ended <- err
	}()
	apptest.Eventually(t, "a start", func() bool { _, err := os.Stat(pids); return err == nil })
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("got %v", err)
	}
	gone(t, pids)
	if _, err := execute(ctx, run{command: []string{program}}); err != context.Canceled {
		t.Errorf("after the end: %v", err)
	}
}

func TestExecuteSparesWhatAShellStarted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	o := asked(t, `sleep 1000 & echo $! >"$PIDS"; echo done`, func(r *run) { r.spare, r.env = true, append(r.env, "PIDS="+pids) })
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil { // ours: the script told its pid
		t.Errorf("it was ended: %v", err)
	}
	if o.stdout != "done\n" {
		t.Errorf("got %+v", o)
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(at(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "#!/bin/sh\n", 0o600)
	write("good", "#!/bin/sh\n", 0o700)
	for _, err := range []error{
		os.Mkdir(at("dir"), 0o700), os.Symlink(at("nowhere"), at("broken")), os.Symlink("circle", at("circle")), syscall.Mkfifo(at("fifo"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		want Problem
		says string
	}{
		{"good", NoProblem, ""},
		{"none", NotFound, "There is no file"},
		{"broken", NotFound, "is a link to " + at("nowhere")},
		{"circle", NotExecutable, "cannot be examined"},
		{"dir", NotExecutable, "is a directory"},
		{"fifo", NotExecutable, "not a file"},
		{"plain", NotExecutable, "chmod +x"},
		{"good/below", NotExecutable, "cannot be examined"},
	} {
		found := examined(at(test.name))
		if found.problem != test.want || !strings.Contains(found.detail, test.says) {
			t.Errorf("%s: %+v", test.name, found)
		}
	}
}

func TestWhatDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		name, text string
		want       Problem
		says       string
	}{
		{"moved", "#!/old/venv/bin/python3\nimport sys\n", NotExecutable, "script for /old/venv/bin/python3, which is not there"},
		{"empty", "", NotExecutable, "cannot run on this machine"},
		{"text", "import sys\n", NotExecutable, "cannot run on this machine"},
		{"windows", "MZ\x90\x00\x03", NotExecutable, "cannot run on this machine"},
		{"arch", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\xf3\x00", NotExecutable, "cannot run on this machine"},
		{"shebang is a directory", "#!/etc\n", NotExecutable, "may not be run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, test.name)
			if err := programtest.WriteFile(path, []byte(test.text), 0o700); err != nil {
				t.Fatal(err)
			}
			o, err := execute(t.Context(), run{command: []string{path}, dir: "/", mark: newMark(), limit: time.Minute})
			if err != nil || o.startErr == nil {
				t.Fatalf("got %+v, %v", o, err)
			}
			if why := unstartable(path, o.startErr); why.problem != test.want || !strings.Contains(why.detail, test.says) {
				t.Errorf("%+v (%v)", why, o.startErr)
			}
		})
	}
}

func TestNeutralDir(t *testing.T) {
	state := t.TempDir()
	want := filepath.Join(state, neutralName)
	for range 2 {
		if got := neutralDir("/home", state); got != want {
			t.Errorf("got %s", got)
		}
	}
	if err := os.WriteFile(filepath.Join(want, "mcp.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{state, "", filepath.Join(state, "none")} {
		if got := neutralDir("/home", state); got != "/" {
			t.Errorf("with the state %q: %s", state, got)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(state, "*")); !slices.Equal(names, []string{want}) {
		t.Errorf("made %q", names)
	}
}
