package icons

import (
	"bytes"
	"testing"
)

var styles = []string{StyleAuto, StyleLight, StyleDark}

func TestEveryIconIsThere(t *testing.T) {
	if len(Marks()) != 6 {
		t.Fatalf("%d marks", len(Marks()))
	}
	seen := map[string]string{}
	once := func(name string, b []byte) {
		t.Helper()
		if len(b) == 0 {
			t.Errorf("%s: missing", name)
		}
		if other, dup := seen[string(b)]; dup {
			t.Errorf("%s is the same picture as %s", name, other)
		}
		seen[string(b)] = name
	}
	for _, m := range Marks() {
		once("item "+string(m), Item(string(m)))
	}
	for _, style := range styles {
		for _, worst := range []Mark{None, Project, NoProject, Starting, Zombie, Parked} {
			once("tray "+style+" "+string(worst), Tray(style, string(worst)))
		}
	}
}

func TestUnknownNamesFallBack(t *testing.T) {
	for _, name := range []string{"", "blue", "../item-zombie", "a\x00b"} {
		if !bytes.Equal(Item(name), Item("ended")) {
			t.Errorf("Item(%q) is not the one of ended", name)
		}
	}
	for _, worst := range []string{"blue", "ended", "../x"} {
		if !bytes.Equal(Tray("auto", worst), Tray("auto", "live_with_project")) {
			t.Errorf("Tray(auto, %q) is not the plain one", worst)
		}
	}
	if !bytes.Equal(Tray("pink", "zombie"), Tray("auto", "zombie")) {
		t.Error("an unknown style is not auto")
	}
}
