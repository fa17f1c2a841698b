//go:build packaged && windows

package windows

import (
	"debug/pe"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"lamplighter/app/apptest"
)

// Subsystems of programs. Source: IMAGE_OPTIONAL_HEADER in winnt.h.
const (
	withoutConsole = 2
	withConsole    = 3
)

func subsystem(t *testing.T, program string) uint16 {
	t.Helper()
	file, err := pe.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	head, ok := file.OptionalHeader.(*pe.OptionalHeader64)
	if !ok {
		t.Fatalf("%s is not for 64 bits", program)
	}
	return head.Subsystem
}

// text is an entry of a program's version, in English.
func text(t *testing.T, program, name string) string {
	t.Helper()
	var none windows.Handle
	size, err := windows.GetFileVersionInfoSize(program, &none)
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	info := make([]byte, size)
	if err := windows.GetFileVersionInfo(program, 0, size, unsafe.Pointer(&info[0])); err != nil {
		t.Fatal(err)
	}
	var value *uint16
	var length uint32
	if err := windows.VerQueryValue(unsafe.Pointer(&info[0]), `\StringFileInfo\040904b0\`+name, unsafe.Pointer(&value), &length); err != nil {
		t.Fatalf("%s: %s: %v", program, name, err)
	}
	return windows.UTF16PtrToString(value)
}

// Explorer, the Task Manager and the system read these.
func TestResources(t *testing.T) {
	dir := os.Getenv("LAMPLIGHTER_TEST_PROGRAMS")
	for _, p := range []struct {
		name, description string
		subsystem         uint16
	}{
		{"lamplighter", "Lamplighter, command line", withConsole},
		{"lamplighter-tray", "Lamplighter", withoutConsole},
		{"lamplighter-connect", "Lamplighter, above one server", withoutConsole},
	} {
		program := filepath.Join(dir, p.name+".exe")
		for name, want := range map[string]string{
			"FileDescription": p.description, "FileVersion": newerVersion, "ProductVersion": newerVersion,
			"ProductName": "Lamplighter", "OriginalFilename": p.name + ".exe", "CompanyName": "The Lamplighter authors",
		} {
			if got := text(t, program, name); got != want {
				t.Errorf("%s: %s is %q, want %q", p.name, name, got, want)
			}
		}
		if got := subsystem(t, program); got != p.subsystem {
			t.Errorf("%s has the subsystem %d, want %d", p.name, got, p.subsystem)
		}
		library, err := windows.LoadLibraryEx(program, 0, windows.LOAD_LIBRARY_AS_DATAFILE)
		if err != nil {
			t.Fatal(err)
		}
		defer windows.FreeLibrary(library)
		found, err := windows.FindResource(library, windows.ResourceID(1), windows.RT_MANIFEST)
		if err != nil {
			t.Fatalf("%s has no manifest: %v", p.name, err)
		}
		manifest, err := windows.LoadResourceData(library, found)
		if err != nil {
			t.Fatal(err)
		}
		apptest.Contains(t, string(manifest), "permonitorv2", `level="asInvoker"`, "longPathAware")
		if _, err := windows.FindResource(library, "APP", windows.RT_GROUP_ICON); err != nil {
			t.Errorf("%s has no icon: %v", p.name, err)
		}
	}
}

// Who unpacks the archive has no program for the tray in it. install.cmd makes
// one, and uninstall takes all away while it runs from there.
func TestArchive(t *testing.T) {
	u := newUser(t)
	built, builtTray := console, gui
	t.Cleanup(func() { console, gui = built, builtTray })
	unpacked := filepath.Join(t.TempDir(), "Ünpacked, & here!")
	if err := os.Mkdir(unpacked, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lamplighter.exe", "lamplighter-connect.exe", "install.cmd"} {
		data, err := os.ReadFile(filepath.Join(os.Getenv("LAMPLIGHTER_TEST_PROGRAMS"), name))
		if err == nil {
			err = os.WriteFile(filepath.Join(unpacked, name), data, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := u.start(t, filepath.Join(unpacked, "install.cmd"), "--no-start")
	if status := p.status(t); status != 0 {
		t.Fatalf("install.cmd: %d, %q, %q", status, p.out.String(), p.err.String())
	}
	if names := u.installed(t); !slices.Equal(names, []string{"lamplighter-connect.exe", "lamplighter-tray.exe", "lamplighter.exe"}) {
		t.Errorf("installed are %q", names)
	}
	if got := subsystem(t, u.app("lamplighter-tray.exe")); got != withoutConsole {
		t.Errorf("the program for the tray has the subsystem %d", got)
	}
	console, gui = u.app("lamplighter.exe"), u.app("lamplighter-tray.exe")
	first := u.asAtLogin(t)
	status, out, said := u.does(t, "uninstall", "--yes", "--keep-setup")
	if status != 0 {
		t.Fatalf("uninstall: %d, %q, %q", status, out, said)
	}
	if status := first.status(t); status != 0 {
		t.Errorf("what ran ended with %d", status)
	}
	if line := value(t, runKey, "Lamplighter"); line != "" {
		t.Errorf("at login runs %q", line)
	}
	if left := u.left(t); len(left) > 0 {
		t.Errorf("left are %q; it said %s", left, out)
	}
	if _, err := os.Lstat(u.apps); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
	if strings.Contains(out, unpacked) {
		t.Errorf("it speaks of where it came from: %s", out)
	}
}
