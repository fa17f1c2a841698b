package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The README's own commands, with curl, to the letter of the answers that it
// promises.
func TestSessionAsTheReadmeSays(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatalf("%v: install curl", err)
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## A server of its own for each client\n")
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, found := strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if !found || len(lines) != 5 {
		t.Fatalf("the README has no such commands: %q", block)
	}
	m := managerHome(t)
	m.port, m.page = 8888, 25282
	m.settings(t, acmeSettings(t))
	m.begin(t)
	project := projectDir(t, "alpha")
	does := func(line string) string {
		shell := exec.Command("/bin/sh", "-c", lines[0]+"\n"+strings.Replace(line, "curl", curl+" -sS", 1))
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	// promised is what the comment after a command says, before its remark.
	promised := func(line string) string {
		answer, _, _ := strings.Cut(strings.TrimPrefix(line, "# "), "     ")
		return strings.TrimSpace(answer)
	}

	got := does(strings.Replace(lines[1], "/home/me/alpha", project, 1))
	s, err := given(201, got)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.NewReplacer("4711", strconv.Itoa(s.ID), "40123", strconv.Itoa(s.Port)).Replace(promised(lines[2])); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w := s.where(t); w.PID != s.ID {
		t.Errorf("session %d is %d", s.ID, w.PID)
	}
	got = does(strings.Replace(lines[3], "4711", strconv.Itoa(s.ID), 1))
	if want := strings.Replace(promised(lines[4]), "4711", strconv.Itoa(s.ID), 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.isGone(t)
	m.nothingLeft(t)
}
