//go:build packaged && windows

package windows

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"lamplighter/app/apptest"
)

// The setups lie beside the programs that other tests run. They differ in nothing
// but the version, and in that the older one is not compressed.
const (
	olderVersion, newerVersion = "1.2.3", "1.2.4"
	uninstallKey               = `Software\Microsoft\Windows\CurrentVersion\Uninstall\Lamplighter`
	runKey                     = `Software\Microsoft\Windows\CurrentVersion\Run`
	approvedKey                = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
)

// user is the one that runs the tests, whose own places a setup writes to.
type user struct {
	*home
	apps, link string // where it is installed, and its entry of the Start menu
	config     string // settings, which stay
	leads      string // its folder of all that is written
}

func newUser(t *testing.T) *user {
	t.Helper()
	local, roaming := os.Getenv("LOCALAPPDATA"), os.Getenv("APPDATA")
	u := &user{
		home:   &home{dir: t.TempDir()},
		apps:   filepath.Join(local, "Programs", "Lamplighter"),
		link:   filepath.Join(roaming, "Microsoft", "Windows", "Start Menu", "Programs", "Lamplighter.lnk"),
		config: filepath.Join(local, "lamplighter", "config.yaml"),
		leads:  filepath.Join(local, "lamplighter"),
	}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "LAMPLIGHTER_") && name != "XDG_CONFIG_HOME" {
			u.env = append(u.env, variable)
		}
	}
	for _, path := range []string{u.apps, u.leads, u.link} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s is there already: this test installs, and takes away what it finds", path)
		}
	}
	return u
}

func (u *user) app(name string) string { return filepath.Join(u.apps, name) }

// setup runs the setup of a version silently, to its end.
func (u *user) setup(t *testing.T, version string) {
	t.Helper()
	program := filepath.Join(os.Getenv("LAMPLIGHTER_TEST_PROGRAMS"), "lamplighter-"+version+"-setup.exe")
	p := u.start(t, program, "/S")
	if status := p.status(t); status != 0 {
		t.Fatalf("the setup of %s ended with %d: %s", version, status, u.log(t))
	}
	console, gui = u.app("lamplighter.exe"), u.app("lamplighter-tray.exe")
	if status, out, said := u.does(t, "version"); status != 0 || !strings.HasPrefix(out, "lamplighter "+version+" ") {
		t.Fatalf("what was installed says %d, %q, %q, and not %s", status, out, said, version)
	}
}

// log is what the program has written last.
func (u *user) log(t *testing.T) string {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(u.leads, "lamplighter.log")) // it may not have run
	return string(text)
}

// value is a text in the registry, "" when it is not there.
func value(t *testing.T, path, name string) string {
	t.Helper()
	key, err := registry.OpenKey(registry.CURRENT_USER, path, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	text, _, err := key.GetStringValue(name)
	if err != nil && !errors.Is(err, registry.ErrNotExist) && !errors.Is(err, windows.ERROR_KEY_DELETED) {
		t.Fatal(err)
	}
	return text
}

func (u *user) deleteValue(t *testing.T, path, name string) {
	t.Helper()
	key, err := registry.OpenKey(registry.CURRENT_USER, path, registry.SET_VALUE)
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	if err := key.DeleteValue(name); err != nil {
		t.Fatal(err)
	}
}

// approve writes what the Task Manager does: enabled, or disabled by the user.
func approve(t *testing.T, first byte) {
	t.Helper()
	key, _, err := registry.CreateKey(registry.CURRENT_USER, approvedKey, registry.SET_VALUE)
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	if err := key.SetBinaryValue("Lamplighter", append([]byte{first}, make([]byte, 11)...)); err != nil {
		t.Fatal(err)
	}
}

// installed are the names of what lies in its folder.
func (u *user) installed(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(u.apps)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func wantInstalled() []string {
	return []string{"LICENSE.txt", "lamplighter-connect.exe", "lamplighter-tray.exe", "lamplighter.exe", "licences-of-libraries.txt", "package", "uninstall.exe"}
}

// asAtLogin starts what the registry says, as Windows does.
func (u *user) asAtLogin(t *testing.T) *process {
	t.Helper()
	line := value(t, runKey, "Lamplighter")
	words, err := windows.DecomposeCommandLine(line)
	if err != nil || len(words) == 0 {
		t.Fatalf("the value at login is %q: %v", line, err)
	}
	return u.served(t, u.startBare(t, words[0], words[1:]...))
}

// runs is the process that is in the background, by what a second one says.
func (u *user) runs(t *testing.T) int {
	t.Helper()
	_, _, said := u.does(t, "run")
	_, rest, _ := strings.Cut(said, "(pid ")
	number, _, _ := strings.Cut(rest, ")")
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("a second one says %q", said)
	}
	return pid
}

// uninstall runs the uninstaller silently. It goes on in a copy of itself, because
// it removes itself too.
func (u *user) uninstall(t *testing.T) {
	t.Helper()
	words, err := windows.DecomposeCommandLine(value(t, uninstallKey, "QuietUninstallString"))
	if err != nil || len(words) != 2 || words[1] != "/S" {
		t.Fatalf("it is uninstalled by %q, %v", words, err)
	}
	if status := u.start(t, words[0], words[1:]...).status(t); status != 0 {
		t.Fatalf("the uninstaller ended with %d", status)
	}
	apptest.Eventually(t, "its directory is gone", func() bool { return len(u.installed(t)) == 0 })
	apptest.Eventually(t, "its entry is gone", func() bool { return value(t, uninstallKey, "UninstallString") == "" })
}

// left are the files of the user with our name in their path.
func (u *user) left(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, top := range []string{os.Getenv("LOCALAPPDATA"), os.Getenv("APPDATA")} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // what cannot be read is not ours
			}
			if rest := strings.TrimPrefix(path, top); strings.Contains(strings.ToLower(rest), "lamplighter") && !strings.HasPrefix(path, os.TempDir()) {
				found = append(found, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// From the first installation to the last uninstallation, as one user.
func TestSetup(t *testing.T) {
	u := newUser(t)
	built, builtTray := console, gui
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("installed: %q\nthe log:\n%s", u.installed(t), u.log(t))
		}
		console, gui = built, builtTray
	})

	u.setup(t, olderVersion)
	if names := u.installed(t); !slices.Equal(names, wantInstalled()) {
		t.Errorf("installed are %q", names)
	}
	if line, want := value(t, runKey, "Lamplighter"), `"`+u.app("lamplighter-tray.exe")+`" run --at-login`; line != want {
		t.Errorf("at login runs %q, want %q", line, want)
	}
	for name, want := range map[string]string{
		"DisplayName": "Lamplighter", "DisplayVersion": olderVersion, "Publisher": "The Lamplighter authors",
		"InstallLocation": u.apps, "DisplayIcon": u.app("lamplighter-tray.exe") + ",0",
		"UninstallString": `"` + u.app("uninstall.exe") + `"`,
	} {
		if got := value(t, uninstallKey, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if link, err := os.ReadFile(u.link); err != nil || !strings.Contains(strings.ReplaceAll(string(link), "\x00", ""), "lamplighter-tray.exe") {
		t.Errorf("the entry of the Start menu: %v, %d bytes", err, len(link))
	}
	if log := u.log(t); log != "" {
		t.Errorf("a silent setup has started it: %s", log)
	}

	first := u.asAtLogin(t)
	if underWine() {
		apptest.Eventually(t, "its icon is in the tray", func() bool { return len(icons(t)) == 1 })
	}
	s := startSerena(t)
	u.await(t, "it sees a server", func(in listed) bool { return in.State == "live_with_project" && in.ProjectName == "lamps" })

	if err := os.WriteFile(u.config, []byte("tray_icon: dark\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A program that a client has started and that goes on in the older version.
	client := exec.Command(u.app("lamplighter-connect.exe"), "drain")
	bridge := serve(t, client)

	u.setup(t, newerVersion)
	apptest.Eventually(t, "the older one has ended", func() bool { return !first.running() })
	if status := first.status(t); status != 0 {
		t.Errorf("the older one ended with %d: %s", status, u.log(t))
	}
	second := u.runs(t)
	if second == first.pid {
		t.Error("the older one still runs")
	}
	apptest.Contains(t, u.log(t), "msg=started version="+olderVersion, "msg=started version="+newerVersion)
	if underWine() {
		apptest.Eventually(t, "the icon of the newer one is in the tray", func() bool { return len(icons(t)) == 1 })
	}
	u.await(t, "the newer one sees the server", func(in listed) bool { return in.State == "live_with_project" })
	if text := value(t, uninstallKey, "DisplayVersion"); text != newerVersion {
		t.Errorf("the version is %q", text)
	}
	if !slices.Equal(u.installed(t), append(wantInstalled()[:2:2], append([]string{"lamplighter-connect.exe.lamplighter-old1"}, wantInstalled()[2:]...)...)) {
		t.Errorf("of the older one is left: %q", u.installed(t))
	}
	select {
	case <-bridge.ended:
		t.Error("the upgrade has ended what a client had started")
	default:
	}

	// Who has switched it off keeps that, however he did it.
	approve(t, 3)
	u.setup(t, newerVersion)
	if key, err := registry.OpenKey(registry.CURRENT_USER, approvedKey, registry.QUERY_VALUE); err != nil {
		t.Error(err)
	} else {
		if state, _, err := key.GetBinaryValue("Lamplighter"); err != nil || state[0] != 3 {
			t.Errorf("what was switched off in the Task Manager is %v, %v", state, err)
		}
		key.Close()
	}
	u.deleteValue(t, approvedKey, "Lamplighter")
	u.deleteValue(t, runKey, "Lamplighter")
	u.setup(t, newerVersion)
	if line := value(t, runKey, "Lamplighter"); line != "" {
		t.Errorf("a third setup has switched it on: %q", line)
	}
	if pid := u.runs(t); pid != second {
		t.Errorf("the same version has replaced what runs: %d, %d", second, pid)
	}

	u.uninstall(t)
	if process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(second)); err == nil {
		defer windows.CloseHandle(process)
		if event, err := windows.WaitForSingleObject(process, 0); err != nil || event != windows.WAIT_OBJECT_0 {
			t.Error("it still runs")
		}
	}
	if underWine() {
		apptest.Eventually(t, "its icon is gone", func() bool { return len(icons(t)) == 0 })
	}
	if left := u.left(t); !slices.Equal(left, []string{u.config}) {
		t.Errorf("left are %q", left)
	}
	for _, path := range []string{`Software\Lamplighter`, `Software\Classes\AppUserModelId\Lamplighter`, uninstallKey} {
		if key, err := registry.OpenKey(registry.CURRENT_USER, path, registry.QUERY_VALUE); err == nil {
			key.Close()
			t.Errorf("%s is left in the registry", path)
		}
	}
	for _, path := range []string{runKey, approvedKey} {
		if text := value(t, path, "Lamplighter"); text != "" {
			t.Errorf("%s still has %q", path, text)
		}
	}
	select {
	case <-s.ended:
		t.Error("the server that it only saw has ended")
	default:
	}
}

// underWine reports whether the icons in the tray can be counted.
func underWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
