//go:build real && linux

package desktop

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

// doctor is what the verb says, a line each.
func doctor(t *testing.T, h *e2e.Home) (all string) {
	t.Helper()
	status, out, said := h.Does(t, "doctor", "--json")
	var report struct {
		OK    bool
		Lines []struct{ Area, Mark, Text string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%d, %q, %q: %v", status, out, said, err)
	}
	if (status == 0) != report.OK || status > 1 || said != "" {
		t.Errorf("status %d, ok %v, said %q", status, report.OK, said)
	}
	for _, l := range report.Lines {
		all += l.Area + ": " + l.Mark + ": " + l.Text + "\n"
	}
	return all
}

// filesOf are all that lie in a home.
func filesOf(t *testing.T, h *e2e.Home) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(h.Dir, func(path string, _ fs.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

// TestDoctor: it looks at a real installation of Serena, fetches none where only uvx
// is, leaves nothing in the home, and sees what only the background process has.
func TestDoctor(t *testing.T) {
	h := e2e.NewHome(t)
	tools := serenatest.Tools(t)
	link := func(program, name string) {
		t.Helper()
		if err := os.Symlink(filepath.Join(tools, program), h.Path("bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	looks := func(want ...string) {
		t.Helper()
		before := filesOf(t, h)
		apptest.Contains(t, doctor(t, h), want...)
		if after := filesOf(t, h); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
	}
	looks("the background process does not run", "Serena: broken: Serena cannot be started")
	link("venv/bin/uv", "uv")
	link("venv/bin/uvx", "uvx")
	looks("Serena is not installed; uvx would fetch it with the first start")
	link("venv/bin/serena", "serena")
	looks("Serena: ok: Serena " + serenatest.Version)

	// The background process has an environment of its own, that of the desktop: it
	// is the one that counts, not that of the terminal.
	p := h.Background(t, "run")
	h.Write(t, "#!/bin/sh\n", "other", "gopls")
	if err := os.Chmod(h.Path("other", "gopls"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.Env = append(h.Env, "PATH="+h.Path("other")+":"+h.Path("bin"))
	apptest.Contains(t, doctor(t, h), "the background process runs "+pidOf(p)+", the same version",
		"the PATH of the background process has 1 directory", "only this terminal finds gopls ("+h.Path("other")+")")
}
