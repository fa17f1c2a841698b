//go:build real && unix && !darwin

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

func venv(t *testing.T, name string) string {
	t.Helper()
	tools := os.Getenv("LAMPLIGHTER_TEST_TOOLS")
	if tools == "" {
		t.Fatal("LAMPLIGHTER_TEST_TOOLS is not set: run ./build.sh test, or set it to the absolute path of the .cache that this has filled")
	}
	return filepath.Join(tools, name, "bin")
}

// Real Serenas of three versions: each is found, told with what it cannot do, and
// makes nothing in the user's home.
func TestRealSerena(t *testing.T) {
	for dir, want := range map[string][]string{
		"venv":       {"ok: Serena 2.1.0", "REPL"},
		"venv-1.7.0": {"ok: Serena 1.7.0", "warn: Serena 1.7.0", "races"},
		"venv-1.5.3": {"ok: Serena 1.5.3", "behind the tool that runs"},
	} {
		m := newMachine(t)
		if err := os.Symlink(filepath.Join(venv(t, dir), "serena"), filepath.Join(m.home, "bin", "serena")); err != nil {
			t.Fatal(err)
		}
		before := listing(t, m.home)
		lines := m.of(t, Serena)
		text := said(lines)
		apptest.Contains(t, text, append(want, "starts with "+filepath.Join(m.home, "bin", "serena")+" (PATH of this command)")...)
		if worst(lines) == Broken || !lines[0].Candidate.Chosen || !strings.HasPrefix(lines[0].Candidate.Version, strings.TrimPrefix(want[0], "ok: Serena ")) {
			t.Errorf("%s:\n%s", dir, text)
		}
		if after := listing(t, m.home); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", dir, before, after)
		}
	}
}

// uvx without a network and without what it would have to fetch: that is told as
// what it is, and nothing of uv is made.
func TestRealUvxFetchesNothing(t *testing.T) {
	m := newMachine(t)
	for _, name := range []string{"uv", "uvx"} {
		if err := os.Symlink(filepath.Join(venv(t, "venv"), name), filepath.Join(m.home, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, m.home)
	lines := m.of(t, Serena)
	apptest.Contains(t, said(lines), "warn: Serena is not installed; uvx would fetch it with the first start", "This check fetches nothing")
	if worst(lines) == Broken {
		t.Errorf("broken:\n%s", said(lines))
	}
	if after := listing(t, m.home); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// A module of Serena starts nothing, whichever way its user runs it; the program
// beside it does.
func TestRealModuleStartsNothing(t *testing.T) {
	m := newMachine(t)
	m.write(t, "session_command: ["+filepath.Join(venv(t, "venv"), "python")+", -m, serena.mcp]\n", ".config/lamplighter/config.yaml")
	apptest.Contains(t, said(m.of(t, Serena)), "warn: ", "-m serena.mcp", "starts nothing by itself", "bin/serena (beside what the settings name)")
}
