package installer

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
	winreg "golang.org/x/sys/windows/registry"

	"lamplighter/monitor/statefile"
)

// runs starts a program, which runs until the test ends or the function that it
// returns is called.
func runs(t *testing.T, path string) (end func()) {
	t.Helper()
	cmd := exec.Command(path)
	hideWindow(cmd)
	cmd.Env = append(os.Environ(), waitVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := false
	end = func() {
		if done {
			return
		}
		done = true
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return end
}

// testProgram has the installed program be one that can be run.
func (l *lab) testProgram() {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		l.t.Fatal(err)
	}
	l.write(l.o.Self, string(program))
}

func TestUpgradeAndUninstallOfAProgramThatRuns(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMP", temp)
	t.Setenv("TEMP", temp)
	l := newLab(t)
	l.unpack("1")
	l.testProgram()
	l.install(noLogin)
	endOld := runs(t, l.bin(mainName))
	l.unpack("2")
	l.testProgram()
	program, err := os.ReadFile(l.o.Self)
	if err != nil {
		t.Fatal(err)
	}
	l.write(l.o.Self, string(program)+"2")
	l.install(noLogin)
	if got := l.read(l.bin(mainName)); !bytes.Equal([]byte(got), append(program, '2')) {
		t.Error("the new one is not in its place")
	}
	endNew := runs(t, l.bin(mainName))
	l.uninstall(UninstallOptions{})
	if files := l.files(); len(files) > 0 {
		t.Errorf("it has left %q", files)
	}
	endOld()
	endNew()
	l.install(noLogin)
	l.uninstall(UninstallOptions{})
	if left := content(t, temp); len(left) > 0 {
		t.Errorf("where things are thrown away there is still %d", len(left))
	}
}

// lockFile opens a file so that nobody can rename or remove it.
func lockFile(t *testing.T, path string) windows.Handle {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestUpgradeOfAFileThatIsOpen(t *testing.T) {
	l := newLab(t)
	l.unpack("1")
	l.install(noLogin)
	l.unpack("2")
	p := l.plan(noLogin)
	h := lockFile(t, l.bin(connectName))
	before := l.all()
	err := l.installer().Do(t.Context(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Error(err)
	}
	sameContent(t, "afterwards", l.all(), before)

	// Somebody who only looks at it is waited for.
	closed := make(chan error)
	go func() {
		tick := time.NewTimer(200 * time.Millisecond)
		defer tick.Stop()
		<-tick.C
		closed <- windows.CloseHandle(h)
	}()
	l.do(p)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	l.installed("2")
}

func TestTheRegistry(t *testing.T) {
	sub := `Software\Lamplighter test ` + strconv.Itoa(os.Getpid())
	key := `HKCU\` + sub
	t.Cleanup(func() {
		if err := winreg.DeleteKey(winreg.CURRENT_USER, sub); err != nil && !errors.Is(err, winreg.ErrNotExist) {
			t.Error(err)
		}
	})
	var r systemRegistry
	if v, err := r.get(key, "x"); v != nil || err != nil {
		t.Errorf("of no key: %v, %v", v, err)
	}
	if err := r.set(key, "x", nil); err != nil {
		t.Errorf("none of no key: %v", err)
	}
	text, err := r.text(`"C:\хоме\a b.exe" run`)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*value{text, {Type: winreg.BINARY, Data: []byte{3, 0, 0}}, {Type: winreg.SZ, Data: []byte{}}, {Type: winreg.DWORD, Data: []byte{1, 2, 3, 4}}} {
		if err := r.set(key, "x", v); err != nil {
			t.Error(err)
		}
		if got, err := r.get(key, "x"); err != nil || !got.equal(v) {
			t.Errorf("%v, %v, not %v", got, err, v)
		}
	}
	if err := r.set(key, "x", text); err != nil {
		t.Fatal(err)
	}
	k, err := winreg.OpenKey(winreg.CURRENT_USER, sub, winreg.QUERY_VALUE)
	if err != nil {
		t.Fatal(err)
	}
	got, kind, err := k.GetStringValue("x")
	if err := errors.Join(err, k.Close()); err != nil || kind != winreg.SZ || got != `"C:\хоме\a b.exe" run` {
		t.Errorf("%q of type %d, %v", got, kind, err)
	}
	if err := r.set(key, "x", nil); err != nil {
		t.Error(err)
	}
	if v, err := r.get(key, "x"); v != nil || err != nil {
		t.Errorf("deleted: %v, %v", v, err)
	}
	for _, other := range []string{`HKLM\Software\X`, `HKCU\`, `HKCU`, ``} {
		if err := r.set(other, "x", text); err == nil {
			t.Errorf("%q was taken for a key of the user's", other)
		}
	}
}

func TestAPathThatOthersHaveOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := statefile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+"2"); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}
