package launch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// batch writes a program for cmd.exe.
func batch(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("@echo off\r\n"+text+"\r\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// finder looks at a home that the test makes.
func finder(t *testing.T, change func(*FinderOptions)) (*Finder, string) {
	t.Helper()
	home := t.TempDir()
	environ := []string{
		"PATH=" + filepath.Join(home, "path"), "USERPROFILE=" + home, "LOCALAPPDATA=" + filepath.Join(home, "local"), "APPDATA=" + filepath.Join(home, "roaming"),
		"SCOOP=" + filepath.Join(home, "scoop"),
	}
	for _, name := range []string{"SYSTEMROOT", "COMSPEC", "TEMP", "TMP", "PATHEXT"} {
		environ = append(environ, name+"="+os.Getenv(name))
	}
	o := FinderOptions{Environ: environ, Home: home, Limits: Limits{Version: time.Minute, Download: time.Minute}}
	if change != nil {
		change(&o)
	}
	return NewFinder(o), home
}

func TestResolveFindsEachLayoutOfWindows(t *testing.T) {
	for _, test := range []struct{ at, source string }{
		{`path\serena.cmd`, "PATH of this process"},
		{`.local\bin\serena.bat`, "~/.local/bin"},
		{`roaming\uv\tools\serena-agent\Scripts\serena.cmd`, "the tools of uv"},
		{`pipx\venvs\serena-agent\Scripts\serena.cmd`, "pipx"},
		{`.pyenv\pyenv-win\shims\serena.bat`, "the shims of pyenv"},
		{`scoop\shims\serena.cmd`, "Scoop"},
		{`local\Programs\Python\Python312\Scripts\serena.cmd`, `%LOCALAPPDATA%\Programs`},
	} {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(test.at))), func(t *testing.T) {
			f, home := finder(t, nil)
			path := batch(t, filepath.Join(home, test.at), "echo Serena 2.1.0")
			r, err := f.Resolve(t.Context(), Wanted{Project: t.TempDir()})
			if err != nil || r.Chosen.Source != test.source || !strings.EqualFold(r.Chosen.Command[0], path) || r.Chosen.Version != "2.1.0" {
				t.Errorf("got %+v, %v", r.Chosen, err)
			}
		})
	}
}

// The second of the seven failures: [WinError 2].
func TestTheProgramThatWindowsDoesNotFind(t *testing.T) {
	f, home := finder(t, nil)
	w := Wanted{Command: []string{"serena-mcp-server"}, Project: t.TempDir()}
	_, err := f.Resolve(t.Context(), w)
	not, ok := err.(*NotFoundError)
	if !ok || not.Tried[0].Problem != NotFound {
		t.Fatalf("got %v", err)
	}
	apptest.Contains(t, not.Tried[0].Detail, `"serena-mcp-server" is not in the only directory on the PATH of this process`, filepath.Join(home, "path"),
		"[WinError 2] The system cannot find the file specified")
	batch(t, filepath.Join(home, `.local\bin\serena.cmd`), "echo Serena 2.1.0")
	if r, err := f.Resolve(t.Context(), w); err != nil || r.Chosen.Version != "2.1.0" || r.Tried[0].Problem != NotFound {
		t.Errorf("got %+v, %v", r, err)
	}
}

// The others of the seven, as a launcher of Python says it.
func TestTheLauncherOfAnotherPython(t *testing.T) {
	f, home := finder(t, nil)
	batch(t, filepath.Join(home, `path\py.cmd`), `if "%1"=="-0p" (
echo  -V:3.13 *        C:\Program Files\Python313\python.exe
exit /b 0
)
if "%1"=="-P" (
echo {"executable":"C:\\Program Files\\Python313\\python.exe","version":"3.13.1","path":["C:\\Program Files\\Python313\\Lib"],"pip":true}
exit /b 0
)
echo C:\Program Files\Python313\python.exe: Error while finding module specification for 'serena.mcp' (ModuleNotFoundError: No module named 'serena') 1>&2
exit /b 1`)
	w := Wanted{Command: []string{"py", "-m", "serena.mcp"}, Project: t.TempDir()}
	_, err := f.Resolve(t.Context(), w)
	not, ok := err.(*NotFoundError)
	if !ok {
		t.Fatalf("got %v", err)
	}
	first := not.Tried[0]
	if first.Problem != ModuleNotFound || first.Interpreter != `C:\Program Files\Python313\python.exe` || len(first.SysPath) != 1 {
		t.Errorf("got %+v", first)
	}
	apptest.Contains(t, first.Detail, "Serena is not installed for it", `"C:\Program Files\Python313\python.exe" -m pip install serena-agent`)
	// What the launcher knows is a candidate of its own.
	if !slices.ContainsFunc(not.Tried, func(v Verdict) bool { return v.Source == "Python, found by the py launcher" }) {
		t.Errorf("got %v", err)
	}
}

func TestWhatDoesNotStartOnWindows(t *testing.T) {
	f, home := finder(t, nil)
	text := filepath.Join(home, "text.exe")
	if err := os.WriteFile(text, []byte("import sys\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path string
		want Problem
	}{
		{filepath.Join(home, "none.exe"), NotFound},
		{home, NotExecutable},
		{text, NotExecutable},
		{batch(t, filepath.Join(home, "serena.sh"), ""), NotExecutable},
	} {
		_, err := f.Resolve(t.Context(), Wanted{Command: []string{test.path}, Project: t.TempDir(), Serena: true})
		not, ok := err.(*NotFoundError)
		if !ok || not.Tried[0].Problem != test.want {
			t.Errorf("%s: got %v", test.path, err)
		}
	}
}

// everlasting is a program that never ends.
func everlasting(t *testing.T, started string) string {
	t.Helper()
	return batch(t, filepath.Join(t.TempDir(), "serena.cmd"), `echo started>"`+started+`"
:again
goto again`)
}

func TestWhatHangsOnWindowsIsEnded(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	f, _ := finder(t, func(o *FinderOptions) { o.Limits.Version = 3 * time.Second })
	program := everlasting(t, started)
	_, err := f.Resolve(t.Context(), Wanted{Command: []string{program}, Project: t.TempDir()})
	not, ok := err.(*NotFoundError)
	if !ok || not.Tried[0].Problem != TimedOut {
		t.Fatalf("got %v", err)
	}
	// A program that runs cannot be removed there: what can be removed has ended.
	if err := os.Remove(program); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(started); err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	started = filepath.Join(t.TempDir(), "started")
	ended := make(chan error, 1)
	f, home := finder(t, nil)
	program = everlasting(t, started)
	go func() {
		_, err := f.Resolve(ctx, Wanted{Command: []string{program}, Project: home})
		ended <- err
	}()
	apptest.Eventually(t, "a start", func() bool { _, err := os.Stat(started); return err == nil })
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestThePathOfNewSessions(t *testing.T) {
	f, _ := finder(t, nil)
	path, err := f.LoginPath(t.Context())
	if err != nil || !strings.Contains(strings.ToLower(path), `\system32`) || strings.Contains(path, "%") {
		t.Errorf("got %q, %v", path, err)
	}
}

func TestNeutralDirOfWindows(t *testing.T) {
	state := t.TempDir()
	if got, want := neutralDir(`C:\`, state), filepath.Join(state, neutralName); got != want {
		t.Errorf("got %s", got)
	}
	if got := neutralDir(`C:\`, ""); !strings.EqualFold(got, os.Getenv("SYSTEMROOT")) {
		t.Errorf("got %s", got)
	}
}
