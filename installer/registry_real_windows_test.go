//go:build real

package installer

import (
	"path/filepath"
	"testing"
)

// The registry of the user who runs the tests: what is there comes back.
func TestRegistryIsSwitched(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, `ünï 100% & dir`, "lamplighter-tray.exe")
	i := New(Options{OS: "windows", Home: dir, StateDir: filepath.Join(dir, "state"), Self: self})
	for _, key := range []string{forUser + runKey, forUser + approvedKey} {
		before, err := i.values.get(key, valueName)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := i.values.set(key, valueName, before); err != nil {
				t.Error(err)
			}
		})
		if err := i.values.set(key, valueName, nil); err != nil {
			t.Fatal(err)
		}
	}
	do := func(on bool) {
		t.Helper()
		p, err := i.PlanLogin(t.Context(), on)
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Do(t.Context(), p, nil); err != nil {
			t.Fatal(err)
		}
		l := i.Login()
		if l.On != on || !l.Can {
			t.Errorf("switched %t: %+v", on, l)
		}
		if on && (len(l.Entries) != 1 || l.Entries[0].Program != self || !l.Entries[0].Ours || l.How != howRegistry) {
			t.Errorf("%+v", l)
		}
	}
	if l := i.Login(); l.On || !l.Can {
		t.Errorf("%+v", l)
	}
	do(true)
	// The Task Manager switches it off, which switching it on again undoes.
	if err := i.values.set(forUser+approvedKey, valueName, &value{Type: 3, Data: []byte{3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}}); err != nil {
		t.Fatal(err)
	}
	if l := i.Login(); l.On || !l.Can || len(l.Entries) != 1 {
		t.Errorf("%+v", l)
	}
	do(true)
	do(false)
	if v, err := i.values.get(forUser+runKey, valueName); v != nil || err != nil {
		t.Errorf("%+v, %v", v, err)
	}
	// A value of another name that starts it.
	other, err := i.values.text(`"C:\x\lamplighter.exe" run`)
	if err != nil {
		t.Fatal(err)
	}
	const otherName = "my Lamplighter test"
	if err := i.values.set(forUser+runKey, otherName, other); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.values.set(forUser+runKey, otherName, nil); err != nil {
			t.Error(err)
		}
	})
	if l := i.Login(); !l.On || l.Can || len(l.Entries) != 1 || l.Entries[0].Ours || l.Entries[0].Program != `C:\x\lamplighter.exe` {
		t.Errorf("%+v", l)
	}
}
