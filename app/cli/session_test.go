package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/app/launch"
	"lamplighter/app/session"
	"lamplighter/monitor"
)

func sessionDesktop(t *testing.T) (*desktop, *daemontest.Sessions) {
	t.Helper()
	client := monitor.Client{Identity: monitor.Identity{PID: 7}, Name: "Codex\x1b[31m"}
	m := &daemontest.Sessions{Status: session.Terminated, Listed: []session.Session{
		{ID: 4711, State: session.StateRunning, ProjectPath: "/home/u/a project", Server: "serena", Port: 40000, MCPURL: "http://127.0.0.1:40000/mcp", StartedAt: daemontest.Noon, AskedBy: &client},
		{State: session.StateStarting, ProjectPath: "/" + strings.Repeat("long/", 40) + "end", Server: "other", StartedAt: daemontest.Noon},
	}}
	d := newDesktop(t)

	d.sessions = m
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1}})
	return d, m
}

func TestSessionVerbs(t *testing.T) {
	d, m := sessionDesktop(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start := fmt.Errorf("%w", &launch.StartError{Server: "serena", Why: "it said \x1b[31mno"})
	none := errors.New("starting serena: none. Tried: • /a (uvx): \x1b[31mred • /b (pipx): no")
	for _, test := range []struct {
		args     []string
		err      error
		status   session.Status
		want     int
		out, say string // all of standard output, part of the other
	}{
		{[]string{"request", dir}, nil, "", 0, "http://127.0.0.1:40000/mcp\nsession 4711\n", ""},
		{[]string{"request", "--json", dir}, nil, "", 0, `{"session_id":4711,"host":"127.0.0.1","port":40000,"state":"running","project_path":"/home/u/a project","server":"serena",` +
			`"mcp_url":"http://127.0.0.1:40000/mcp","dashboard_url":null,"started_at":"2026-11-20T12:00:00Z","asked_by":{"pid":7,"name":"Codex\u001b[31m"}}` + "\n", ""},
		{[]string{"request", dir}, start, "", 1, "", "lamplighter: session request: starting serena: it said [31mno\n"},
		{[]string{"request", dir}, none, "", 1, "", "lamplighter: session request: starting serena: none. Tried:\n  /a (uvx): [31mred\n  /b (pipx): no\n"},
		{[]string{"request", "--server", "x", dir}, fmt.Errorf("%w: %q", session.ErrNoServer, "x"), "", 1, "", `session request: no such server in the settings: "x"`},
		{[]string{"request", dir}, &session.TooMany{Live: 3, Limit: 3}, "", 1, "", "the limit of 3 sessions is reached"},
		{[]string{"request", file}, nil, "", 1, "", "file\" is no directory"},
		{[]string{"request", filepath.Join(dir, "none")}, nil, "", 1, "", "none"},
		{[]string{"release", "4711"}, nil, session.Terminated, 0, "Ended: session 4711.\n", ""},
		{[]string{"release", "4711"}, nil, session.AlreadyGone, 0, "Ended already: session 4711.\n", ""},
		{[]string{"release", "--json", "4711"}, nil, session.Terminated, 0, `{"status":"terminated","session_id":4711}` + "\n", ""},
		{[]string{"release", "4711"}, session.ErrUnknown, "", 1, "", "session release: there is no session 4711; lamplighter session list shows them"},
		{[]string{"release", "4711"}, errors.New("something of it still runs"), "", 1, "", "session release: releasing session 4711: something of it still runs"},
		{[]string{"request", ""}, nil, "", 2, "", "the name of the directory is empty; . is this one"},
		{[]string{"request", "d\xff"}, nil, "", 2, "", `the name "d\xff" is not UTF-8`},
		{[]string{"request"}, nil, "", 2, "", "request takes one directory"},
		{[]string{"release"}, nil, "", 2, "", "release takes one session: its id"},
		{[]string{"release", "x\x1b"}, nil, "", 2, "", `"x" is no id of a session; lamplighter session list shows them`},
		{[]string{"release", "0"}, nil, "", 2, "", `"0" is no id`},
		{[]string{"lst"}, nil, "", 2, "", `there is no verb "lst"; did you mean list? See lamplighter session --help`},
		{nil, nil, "", 2, "", "session takes one of request, release, list"},
	} {
		d.out, d.err, m.Err, m.Status = apptest.Buffer{}, apptest.Buffer{}, test.err, test.status
		got := d.runs(t, append([]string{"session"}, test.args...)...)
		if got != test.want || d.out.String() != test.out || !strings.Contains(d.err.String(), test.say) || (test.say == "") != (d.err.String() == "") {
			t.Errorf("session %q: %d\n%s%s", test.args, got, d.out.String(), d.err.String())
		}
	}
	for _, r := range m.Asked {
		if r.ProjectPath != dir || r.AskedBy().PID == 0 {
			t.Errorf("asked for %+v", r)
		}
	}
}

// A session that nobody is told of does not stay.
func TestSessionRequestTakenBack(t *testing.T) {
	for name, test := range map[string]struct {
		interrupted bool
		status      session.Status
		refusal     error
		say         string
	}{
		"interrupted":             {true, session.Terminated, nil, "session request: interrupted; the server is ended again\n"},
		"not listed":              {false, session.Terminated, nil, "session 4711 has ended as soon as it was ready; lamplighter events tells more; the server is ended again\n"},
		"died":                    {false, session.AlreadyGone, nil, "as soon as it was ready; lamplighter events tells more\n"},
		"died, and was forgotten": {false, "", session.ErrUnknown, "as soon as it was ready; lamplighter events tells more\n"},
		"cannot be ended":         {true, "", errors.New("it runs on"), "interrupted; session 4711 was not ended (releasing session 4711: it runs on): try lamplighter session release 4711\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d, m := sessionDesktop(t)
			m.Status, m.Refusal, m.Listed = test.status, test.refusal, nil
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			returned := make(chan struct{})
			if test.interrupted {
				m.Listing = func() { cancel(); <-returned } // the list does not arrive any more
			}
			got := d.main(ctx, []string{"session", "request", t.TempDir()})
			close(returned)
			if got != 1 || d.out.String() != "" || !strings.HasSuffix(d.err.String(), test.say) {
				t.Errorf("%d %s%s", got, d.out.String(), d.err.String())
			}
			if len(m.Released) != 1 || m.Released[0] != 4711 {
				t.Errorf("released %v", m.Released)
			}
		})
	}
}

// A directory is meant as the shell means it.
func TestSessionRequestFromHere(t *testing.T) {
	d, m := sessionDesktop(t)
	dir := t.TempDir()
	t.Chdir(dir)
	if d.runs(t, "session", "request", ".") != 0 || len(m.Asked) != 1 {
		t.Fatal(d.err.String())
	}
	if got := m.Asked[0].ProjectPath; got != dir {
		if a, err := filepath.EvalSymlinks(got); err != nil || a == got {
			t.Errorf("asked for %s, not %s", got, dir)
		}
	}
}

func TestSessionsAreCompleted(t *testing.T) {
	d, _ := sessionDesktop(t)
	d.runs(t, "__complete", "session", "release", "")
	if got := d.out.String(); got != "4711\tserena for /home/u/a project\n:4\n" {
		t.Errorf("%q", got)
	}
}
