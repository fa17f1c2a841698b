package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSerenaPage(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                                        true,
		"web_dashboard: true\n":                                   true,
		"web_dashboard: false\n":                                  false,
		"web_dashboard_open_on_launch:\n":                         true,
		"web_dashboard_open_on_launch: false":                     false,
		"\ufeffweb_dashboard_open_on_launch: no":                  true, // not a boolean of YAML 1.2, nor of our parser
		"web_dashboard_interface: tray_manager":                   false,
		"web_dashboard_interface: browser":                        true,
		"web_dashboard_interface: null":                           true,
		"web_dashboard: [":                                        true,
		"a: [1\n" + string(make([]byte, 300<<10)):                 true,
		"web_dashboard: 7\nweb_dashboard_open_on_launch: false\n": false,
		"nested:\n  web_dashboard: false\n":                       true,
	} {
		if got := parseSerenaPage([]byte(text)); !got.Exists || got.OpensPage() != want {
			t.Errorf("%.60q: %+v", text, got)
		}
	}
	broken := parseSerenaPage([]byte("web_dashboard: false\nprojects: [\n"))
	if broken.Broken == "" || broken.Line != 2 || broken.Dashboard != nil {
		t.Errorf("got %+v", broken)
	}
}

func TestReadSerenaPage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, SerenaFile)
	if got := ReadSerenaPage(path); got != (SerenaPage{}) || !got.OpensPage() {
		t.Errorf("none: %+v", got)
	}
	if got := ReadSerenaPage(dir); !got.Exists || got.Err == nil || !got.OpensPage() {
		t.Errorf("a directory: %+v", got)
	}
	if err := os.WriteFile(path, []byte("web_dashboard_open_on_launch: false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ReadSerenaPage(path); got.Err != nil || got.Opens == nil || got.OpensPage() {
		t.Errorf("got %+v", got)
	}
}

// FuzzSerenaPage: that the page stays closed is never made up, and what is broken
// is said in one line, with a place in the text.
func FuzzSerenaPage(f *testing.F) {
	for _, seed := range []string{
		"", "web_dashboard: true\nweb_dashboard_open_on_launch:\n", "web_dashboard: false\n", "web_dashboard_interface: tray_manager\n",
		"- [}\n", "a: &x [*x]\n", "\ufeffweb_dashboard: !!bool false\n", "a: 1\na: 2\n", "\x00", "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := parseSerenaPage(text)
		if !got.Exists || got.Err != nil {
			t.Errorf("what was read was not there: %+v", got)
		}
		// A name may be written with escapes, between double quotes.
		if !got.OpensPage() && !strings.Contains(string(text), "web_dashboard") && !strings.Contains(string(text), `\`) {
			t.Errorf("closed by %q", text)
		}
		if got.Broken != "" && (!got.OpensPage() || got.Interface != "") {
			t.Errorf("broken, and it says something: %+v", got)
		}
		if lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 1; got.Line < 0 || got.Line > lines+1 || got.Line > 0 && got.Broken == "" {
			t.Errorf("line %d of %d: %q", got.Line, lines, got.Broken)
		}
	})
}
