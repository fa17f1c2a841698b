package doctor

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestVersionIn(t *testing.T) {
	const mark = "lamplighter-version="
	longest := strings.Repeat("1", versionLength)
	for text, want := range map[string]string{
		"":                                   "",
		"\x7fELF\x00" + mark + "1.2.3;\x00x": "1.2.3",
		mark + "v0.1.0-dev+ab~1_2;":          "v0.1.0-dev+ab~1_2",
		mark + longest + ";":                 longest,
		mark + longest + "1;":                "",
		mark + "1.2.3":                       "",
		mark + ";":                           "",
		mark + "1.2 3;":                      "",
		mark + "\x1b[31m1;":                  "",
		mark + "\xff1;":                      "",
		// A mark without a version is passed by.
		mark + mark + "x y;" + mark + "1.2;": "1.2",
		upperMark + "1.2.3;":                 "",
	} {
		if got := versionIn(strings.NewReader(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	// Wherever two blocks meet.
	stamp := mark + longest + ";"
	for before := 1<<20 - len(stamp) - 1; before <= 1<<20+1; before++ {
		if got := versionIn(strings.NewReader(strings.Repeat("x", before) + stamp)); got != longest {
			t.Fatalf("behind %d: %q", before, got)
		}
	}
	if got := versionIn(iotest.OneByteReader(strings.NewReader("x" + stamp))); got != longest {
		t.Errorf("byte by byte: %q", got)
	}
}

func TestVersionOfNoProgram(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "nosuch")} {
		if got := versionOf(path); got != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
}
