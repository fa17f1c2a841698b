//go:build unix

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// examined is what doctor --json prints.
type examined struct {
	OK    bool `json:"ok"`
	Lines []struct {
		Area, Mark, Text, Means, Do string
	} `json:"lines"`
}

func (h *home) doctor(t *testing.T) (report examined, all string) {
	t.Helper()
	status, out, said := h.does(t, "doctor", "--json")
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%d, %q, %q: %v", status, out, said, err)
	}
	if (status == 0) != report.OK || status > 1 || said != "" {
		t.Errorf("status %d, ok %v, said %q", status, report.OK, said)
	}
	for _, l := range report.Lines {
		all += l.Area + ": " + l.Mark + ": " + l.Text + "\n"
	}
	return report, all
}

// files are all that lie in a home.
func (h *home) files(t *testing.T) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

func TestDoctorWithoutBackground(t *testing.T) {
	h := newHome(t)
	before := h.files(t)
	_, all := h.doctor(t)
	apptest.Contains(t, all, "Lamplighter: ok: lamplighter 1.2.3-test ("+runtime.GOOS, "Lamplighter: ok: lamplighter-connect lies beside it", "Lamplighter: warn: the background process does not run", "Serena: broken: Serena cannot be started",
		"Start at login: warn: lamplighter does not start at login")
	if after := h.files(t); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// The version of a real build is read from its file, and not asked for.
func TestDoctorReadsTheVersionOfACopy(t *testing.T) {
	h := newHome(t)
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	copied := h.path("copies", "lamplighter")
	// Another program, by what follows, and one that nobody could run.
	h.write(t, "no program\n"+string(program), "copies", "lamplighter")
	if err := os.Chmod(copied, 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+filepath.Dir(copied)+":"+h.path("bin"))
	_, all := h.doctor(t)
	apptest.Contains(t, all, copied+" (1.2.3-test)")
}

// The background process has an environment of its own, that of the desktop: it
// is the one that counts, not that of the terminal.
func TestDoctorSeesTheBackgroundsEnvironment(t *testing.T) {
	h := newHome(t)
	p := h.background(t, "run")
	h.write(t, "#!/bin/sh\n", "venv", "gopls")
	if err := os.Chmod(h.path("venv", "gopls"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+h.path("venv")+":"+h.path("bin"))
	pid := "(pid " + strconv.Itoa(p.cmd.Process.Pid) + ")"
	apptest.Eventually(t, "it has its ports", func() bool {
		_, all := h.doctor(t)
		return strings.Contains(all, "port 24224, for registrations of Serena: the background process has it") &&
			strings.Contains(all, "port 25282, for the global dashboard: the background process has it")
	})
	_, all := h.doctor(t)
	apptest.Contains(t, all, "the background process runs "+pid+", the same version", "control.sock answers, and is yours alone", "is yours and can be written to")
	if runtime.GOOS != "linux" {
		return // no other system shows the environment of a process
	}
	apptest.Contains(t, all, "the PATH of the background process has 1 directory", "only this terminal finds gopls ("+h.path("venv")+")")
}
