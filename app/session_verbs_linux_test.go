package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

func TestSessionVerbsWithoutLamplighter(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"request", h.dir}, {"release", "4711"}} {
		code, out, said := h.does(t, append([]string{"session"}, args...)...)
		if code != 69 || out != "" {
			t.Errorf("session %v: %d, %q", args, code, out)
		}
		apptest.Contains(t, said, "cannot be reached")
	}
	for _, args := range [][]string{
		{"request"}, {"request", "a", "b"}, {"release"}, {"release", "x"}, {"release", "0"}, {"release", "-5"}, {"list", "x"}, {"none"}, {"list", "--none"}, {"request", "--server"},
	} {
		if code, out, said := h.does(t, append([]string{"session"}, args...)...); code != 2 || out != "" || said == "" {
			t.Errorf("session %v: %d, %q, %q", args, code, out, said)
		}
	}
}

func TestSessionVerbs(t *testing.T) {
	t.Parallel()
	m := newManager(t, acmeSettings(t)+template(t, "broken", acmeServer(t, "--say", "the lamp is broken"))+template(t, "second", acmeServer(t)))
	project := m.path("my project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	code, out, said := m.does(t, "session", "list")
	if code != 0 {
		t.Errorf("list: %d, %q, %q", code, out, said)
	}

	// For people; the directory as the shell has it.
	code, out, said = m.does(t, "session", "request", "my project")
	list := m.sessions(t)
	if code != 0 || said != "" || len(list) != 1 || list[0].ProjectPath != project || list[0].Server != "acme" {
		t.Fatalf("request: %d, %q, %q, %+v", code, out, said, list)
	}
	first := asked{*list[0].SessionID, *list[0].Port}
	apptest.Contains(t, out, fmt.Sprintf("http://127.0.0.1:%d/mcp", first.Port), strconv.Itoa(first.ID))

	// For programs.
	code, out, said = m.does(t, "session", "request", "--json", "--server", "second", project)
	var got struct {
		ID   int    `json:"session_id"`
		Host string `json:"host"`
		Port int    `json:"port"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || said != "" || got.Host != "127.0.0.1" || strings.Count(out, "\n") != 1 {
		t.Fatalf("request --json: %d, %q, %q, %v", code, out, said, err)
	}
	second := asked{got.ID, got.Port}
	if w := second.where(t); w.PID != second.ID {
		t.Errorf("session %d is %d", second.ID, w.PID)
	}

	code, out, said = m.does(t, "session", "list")
	if code != 0 || said != "" {
		t.Errorf("list: %d, %q", code, said)
	}
	apptest.Contains(t, out, strconv.Itoa(first.ID), strconv.Itoa(second.ID), strconv.Itoa(first.Port), "my project", "second")
	code, out, said = m.does(t, "session", "list", "--json")
	var all struct{ Sessions []listedSession }
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != 0 || said != "" || len(all.Sessions) != 2 {
		t.Errorf("list --json: %d, %q, %q, %v", code, out, said, err)
	}

	// What fails says why.
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"request", filepath.Join(m.dir, "none")}, "none"},
		{[]string{"request", binary}, "lamplighter"},
		{[]string{"request", "--server", "broken", project}, "the lamp is broken"},
		{[]string{"request", "--server", "no-such-server", project}, "no-such-server"},
		{[]string{"release", strconv.Itoa(os.Getpid())}, strconv.Itoa(os.Getpid())},
	} {
		code, out, said := m.does(t, append([]string{"session"}, test.args...)...)
		if code != 1 || out != "" {
			t.Errorf("session %v: %d, %q", test.args, code, out)
		}
		apptest.Contains(t, said, test.want)
	}

	code, out, said = m.does(t, "session", "release", strconv.Itoa(first.ID))
	if code != 0 || said != "" || !strings.Contains(out, strconv.Itoa(first.ID)) {
		t.Errorf("release: %d, %q, %q", code, out, said)
	}
	first.isGone(t)
	if code, _, _ = m.does(t, "session", "release", strconv.Itoa(first.ID)); code != 1 {
		t.Errorf("a second release: %d", code)
	}
	code, out, said = m.does(t, "session", "release", "--json", strconv.Itoa(second.ID))
	if code != 0 || said != "" || strings.TrimSpace(out) != released("terminated", second.ID) {
		t.Errorf("release --json: %d, %q, %q", code, out, said)
	}
	second.isGone(t)
	m.nothingLeft(t)
}
