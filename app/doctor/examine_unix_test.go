//go:build unix && !darwin

package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/app/launch"
	"lamplighter/app/setup"
	"lamplighter/installer"
	"lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/view"
)

// machine is a user's world to be examined.
type machine struct {
	home string
	o    Options
}

// newMachine is one in which nothing is installed.
func newMachine(t *testing.T) *machine {
	t.Helper()
	home, err := os.MkdirTemp("", "doc") // short, since a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	m := &machine{home: home}
	for _, dir := range []string{"run", "bin", "project"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.o = Options{
		Version: "1.2.3", Self: filepath.Join(home, "bin", "lamplighter"), Home: home, Directory: filepath.Join(home, "project"),
		Environ: []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "LANG=C.UTF-8"},
		Finder: func(environ []string) Finder {
			return launch.NewFinder(launch.FinderOptions{Environ: environ, Home: home, Passwd: os.DevNull, Limits: launch.Limits{Shell: time.Minute}})
		},
		Scan: func(context.Context) ([]*view.Server, error) { return nil, nil },
	}
	m.places()
	m.o.Installer = installer.New(installer.Options{
		OS: runtime.GOOS, Home: home, ConfigHome: filepath.Join(home, ".config"), DataHome: filepath.Join(home, ".local/share"), StateDir: m.o.Places.StateDir,
		ConfigDir: filepath.Dir(m.o.Places.Config), Self: m.o.Self, Version: m.o.Version, Getenv: func(name string) string { return variable(m.o.Environ, name) },
	})
	m.o.Clients = setup.New(setup.Options{
		Home: home, Getenv: func(name string) string { return variable(m.o.Environ, name) }, Dir: m.o.Directory, State: m.o.Places.StateDir, Connect: filepath.Join(home, "bin", "lamplighter-connect"),
		Programs: func() ([]process.Info, error) { return nil, nil },
	})
	return m
}

// places finds our files as the command line does.
func (m *machine) places() {
	base := config.Base{Home: m.home, ConfigHome: filepath.Join(m.home, ".config"), StateHome: filepath.Join(m.home, ".local/state"), RuntimeDir: filepath.Join(m.home, "run")}
	m.o.Places = config.Find("", func(name string) string { return variable(m.o.Environ, name) }, base)
}

func (m *machine) write(t *testing.T, text string, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{m.home}, elem...)...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), programtest.WriteFile(path, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
	return path
}

// of is what the report says about an area.
func (m *machine) of(t *testing.T, area Area) []Line {
	t.Helper()
	var lines []Line
	for _, l := range Examine(t.Context(), m.o).Lines {
		if l.Area == area {
			lines = append(lines, l)
		}
	}
	return lines
}

// listing is everything below a folder, with what a change would change.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			b.WriteString(path + " " + info.Mode().String() + " " + strconv.FormatInt(info.Size(), 10) + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Nothing is made or changed: neither where nothing of ours is, nor where all of
// it is, broken things included.
func TestNothingIsChanged(t *testing.T) {
	m := newMachine(t)
	check := func(what string) {
		t.Helper()
		before := listing(t, m.home)
		if lines := Examine(t.Context(), m.o).Lines; len(lines) == 0 {
			t.Fatal("nothing was said")
		}
		if after := listing(t, m.home); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", what, before, after)
		}
	}
	check("nothing there")
	m.write(t, "log", ".local/state/lamplighter/lamplighter.log")
	m.write(t, "tray_icon: dark\n", ".config/lamplighter/config.yaml")
	m.write(t, "web_dashboard: true\n", ".serena/serena_config.yml")
	m.write(t, `{"instances": {"4194305": {"pid": 4194305}}}`, ".serena/instances.json")
	m.write(t, "", ".serena/instances.lock")
	m.write(t, `{"mcpServers": {"serena": {"command": "lamplighter-connect", "args": ["connect", "--", "serena", "start-mcp-server"]}}}`, ".claude.json")
	m.write(t, `{"version": 1, "steps": []}`, ".local/state/lamplighter/setup.json")
	m.write(t, "", "run/lamplighter/left")
	check("all of it there")
	m.write(t, "\x00", ".config/lamplighter/config.yaml")
	m.write(t, "[", ".serena/serena_config.yml")
	m.write(t, "{", ".serena/instances.json")
	m.write(t, "{", ".claude.json")
	m.write(t, "{", ".local/state/lamplighter/setup.json")
	check("broken")
}

// Each area is there, in its order, also without a home directory.
func TestAreasWithoutHome(t *testing.T) {
	m := newMachine(t)
	m.o.Home, m.o.Places, m.o.Environ, m.o.Directory, m.o.Clients = "", config.Places{}, []string{"PATH=/nonexistent"}, "", nil
	home := t.TempDir()
	m.o.Finder = func(environ []string) Finder {
		return launch.NewFinder(launch.FinderOptions{Environ: environ, Home: filepath.Join(home, "none"), Passwd: os.DevNull})
	}
	var areas []Area
	report := Examine(t.Context(), m.o)
	for _, l := range report.Lines {
		if len(areas) == 0 || areas[len(areas)-1] != l.Area {
			areas = append(areas, l.Area)
		}
	}
	want := []Area{Program, Serena, Path, Desktop, PortsArea, Files, Settings, Sharing, Clients, Login, Registry, Safety}
	if len(areas) != len(want) {
		t.Fatalf("got %v", areas)
	}
	for i := range want {
		if areas[i] != want[i] {
			t.Errorf("area %d is %s, want %s", i, areas[i], want[i])
		}
	}
	if !report.Broken() {
		t.Error("nothing is broken")
	}
	apptest.Contains(t, said(report.Lines), "there is no home directory", "the control socket has no place", "the state directory has no place", "the settings have no place", "the settings of MCP clients are not looked at", "Set HOME")
}

func TestBrokenSettings(t *testing.T) {
	m := newMachine(t)
	path := m.write(t, "tray_icon: dark\n\nweb_dashbord_global: true\n", ".config/lamplighter/config.yaml")
	serena := m.write(t, "projects: []\nweb_dashboard_global_port: twelve\n", ".serena/serena_config.yml")
	apptest.Contains(t, said(m.of(t, Settings)), "broken: "+path+":3: unknown setting", `did you mean "web_dashboard_global"?`, "broken: "+serena+":2: web_dashboard_global_port")
}

func TestTakenPort(t *testing.T) {
	m := newMachine(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	m.write(t, "web_dashboard_global_port: "+strconv.Itoa(port)+"\n", ".config/lamplighter/config.yaml")
	apptest.Contains(t, said(m.of(t, PortsArea)), "warn: port "+strconv.Itoa(port)+", for the global dashboard: doctor.test (pid "+strconv.Itoa(os.Getpid())+") has it")
}

// A socket that a crash has left behind, and something else in its place.
func TestControlSocket(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Join(m.home, "run", "lamplighter")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: m.o.Places.ControlSocket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	apptest.Contains(t, said(m.of(t, Files)), "the next start replaces it")
	if err := os.Remove(m.o.Places.ControlSocket); err != nil {
		t.Fatal(err)
	}
	m.write(t, "x", "run", "lamplighter", "control.sock")
	apptest.Contains(t, said(m.of(t, Files)), "is not a socket")
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	apptest.Contains(t, said(m.of(t, Files)), "others may write to the directory of the control socket, "+dir)
}

// Another program that holds the lock for servers is named, and the lock is
// left as it is.
func TestLockForServers(t *testing.T) {
	m := newMachine(t)
	path := m.write(t, "", ".local/state/lamplighter/alive.lock")
	if text := said(m.of(t, Files)); strings.Contains(text, "alive.lock") {
		t.Errorf("nobody holds it: %s", text)
	}
	lock := flock.New(path)
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Close()
	apptest.Contains(t, said(m.of(t, Files)), "broken: the lock "+path+" is held by ", "No session can be started.")
}

// What the login shell alone finds.
func TestLoginShell(t *testing.T) {
	m := newMachine(t)
	m.write(t, "#!/bin/sh\n", "go", "bin", "gopls")
	// The system's own files set PATH anew.
	m.write(t, "PATH="+variable(m.o.Environ, "PATH")+":"+filepath.Join(m.home, "go", "bin")+"\n", ".profile")
	apptest.Contains(t, said(m.of(t, Path)), "has 1 directory more: "+filepath.Join(m.home, "go/bin"), "warn: only the login shell finds gopls ("+filepath.Join(m.home, "go/bin")+")")
	m.write(t, "sleep 600\n", ".profile")
	m.o.Finder = func(environ []string) Finder {
		return launch.NewFinder(launch.FinderOptions{Environ: environ, Home: m.home, Passwd: os.DevNull, Limits: launch.Limits{Shell: 1}}) // a nanosecond
	}
	apptest.Contains(t, said(m.of(t, Path)), "warn: the login shell does not tell its PATH")
}

// A login shell may be slow, so it is asked once for all checks.
func TestLoginShellIsAskedOnce(t *testing.T) {
	m := newMachine(t)
	asked := filepath.Join(m.home, "asked")
	m.write(t, "echo x >>'"+asked+"'\n", ".profile")
	Examine(t.Context(), m.o)
	if text, err := os.ReadFile(asked); string(text) != "x\n" {
		t.Errorf("it was asked: %q, %v", text, err)
	}
}

// The failures of the first attempt that are those of an interpreter, with a
// real one that has no Serena. (The one of Windows is in examine_windows_test.go.)
func TestRealInterpreterWithoutSerena(t *testing.T) {
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		t.Fatal("these tests need the Debian package python3")
	}
	m := newMachine(t)
	m.write(t, "", "project", "src", "serena", "__init__.py")
	named := func(words string) Line {
		t.Helper()
		m.write(t, "session_command: ["+words+"]\n", ".config/lamplighter/config.yaml")
		for _, l := range m.of(t, Serena) {
			if l.Candidate != nil && strings.HasPrefix(l.Candidate.Source, "the settings") {
				return l
			}
		}
		t.Fatal("no line is about what the settings name")
		return Line{}
	}
	lacks := func(what string, want ...string) {
		t.Helper()
		l := named(python + ", -m, serena.mcp")
		if l.Mark != Broken || l.Candidate.Problem != launch.ModuleNotFound || l.Candidate.Interpreter == "" || len(l.Candidate.SysPath) == 0 {
			t.Errorf("%s: %+v, %+v", what, l, l.Candidate)
		}
		apptest.Contains(t, l.Text, l.Candidate.Interpreter, "not installed for it")
		apptest.Contains(t, l.Means, want...)
	}
	lacks("-m", "The working directory does not help")
	bare := m.o.Environ
	m.o.Environ = append(bare, "PYTHONPATH=src")
	lacks("PYTHONPATH", `PYTHONPATH has "src", which is another directory wherever a server starts`)
	m.o.Environ = append(bare, "PYTHONPATH="+m.home)
	lacks("PYTHONPATH of no use", "PYTHONPATH has "+m.home+", in which there is no directory serena")
	if l := named("serena-mcp-server"); l.Mark != Broken || l.Candidate.Problem != launch.NotFound {
		t.Errorf("serena-mcp-server: %+v", l)
	}
	apptest.Contains(t, said(m.of(t, Serena)), "no program of that name since 1.0", "Serena cannot be started for a session on "+filepath.Join(m.home, "project")+": none of")
}

// The same Serena is a project's own in that project, and not in another.
func TestSerenaOfTheProject(t *testing.T) {
	m := newMachine(t)
	own := m.write(t, "#!/bin/sh\necho Serena 2.1.0\n", "project", ".venv", "bin", "serena")
	m.o.Environ = append(m.o.Environ, "PATH="+filepath.Dir(own)+":/usr/bin:/bin")
	apptest.Contains(t, said(m.of(t, Serena)), "cannot be started for a session on "+m.o.Directory+":", `write into the settings: session_command: ["`+own+`"]`)
	m.o.Directory = filepath.Join(m.home, "bin")
	apptest.Contains(t, said(m.of(t, Serena)), "ok: Serena 2.1.0 starts with "+own+" (PATH of this command) for a session on "+m.o.Directory)
}

func makePipe(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Files that are pipes, which to open could wait for ever, are not opened.
func TestPipesForFiles(t *testing.T) {
	m := newMachine(t)
	pipe := filepath.Join(m.home, "pipe")
	makePipe(t, pipe)
	for _, name := range []string{".serena/serena_config.yml", ".config/lamplighter/config.yaml", ".serena/instances.lock", ".config/autostart/lamplighter.desktop"} {
		path := filepath.Join(m.home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(pipe, path)); err != nil {
			t.Fatal(err)
		}
	}
	text := said(Examine(t.Context(), m.o).Lines)
	apptest.Contains(t, text, "config.yaml: is a pipe, not a file", "serena_config.yml cannot be read: it is not a file", "lamplighter.desktop cannot be used: it is not a file", "instances.lock cannot be taken")
	if strings.Contains(text, "no answer within") {
		t.Errorf("something hung:\n%s", text)
	}
}
