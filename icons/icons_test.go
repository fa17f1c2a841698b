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
		once("item "+string(m), Item(m))
	}
	for _, style := range styles {
		for _, worst := range []Mark{None, Project, NoProject, Starting, Zombie, Parked} {
			once("tray "+style+" "+string(worst), Tray(style, worst))
		}
	}
}

func TestMarksWithoutPicturesOfTheirOwn(t *testing.T) {
	if !bytes.Equal(Item(Live), Item(Project)) || !bytes.Equal(Tray("", Live), Tray(StyleAuto, Project)) {
		t.Error("a server without projects is not drawn as one with a project")
	}
}
