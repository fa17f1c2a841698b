//go:build real && linux

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// The whole life of a session as docs/sessions.md has it: a real Serena, a real
// call of a tool, and nothing left afterwards.
func TestWholeSessionAsItsDocumentSays(t *testing.T) {
	text, err := os.ReadFile("../docs/sessions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\nThe whole life of one, ")
	_, block, _ := strings.Cut(section, "```sh\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("docs/sessions.md has no such commands")
	}
	m := serenaHome(t)
	m.port, m.page = 8888, 25282
	m.settings(t, patientStart)
	m.begin(t)
	shell := exec.Command("/bin/sh", "-c", block)
	shell.Dir = serenatest.GoProject(t, "alpha")
	out, err := shell.CombinedOutput()
	if err == nil {
		t.Error("the port still answers")
	}
	apptest.Contains(t, string(out), "Active project: alpha", `"status":"terminated"`, "curl: (7)")
	if pid := regexp.MustCompile(`"session_id":(\d+)`).FindStringSubmatch(string(out)); pid == nil || regexp.MustCompile(`(?m)^ *`+pid[1]+` `).Match(out) {
		t.Error("the process is there")
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
	m.nothingLeft(t)
}
