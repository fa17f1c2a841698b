package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/app/launch"
	"lamplighter/app/session"
	"lamplighter/monitor"
)

// fakeSessions is a manager that gives what it is told.
type fakeSessions struct {
	err  error
	list []session.Session

	asked    []session.Request
	released []int
	status   session.Status
	refusal  error  // of a release
	listing  func() // is called before sessions are listed; nil: nothing is
}

func (s *fakeSessions) Request(_ context.Context, r session.Request) (session.Session, error) {
	s.asked = append(s.asked, r)
	if s.err != nil {
		return session.Session{}, s.err
	}
	return session.Session{ID: 4711, Port: 40000}, nil
}

func (s *fakeSessions) Release(_ context.Context, id int, _ string) (session.Status, error) {
	s.released = append(s.released, id)
	return s.status, cmp.Or(s.refusal, s.err)
}

func (s *fakeSessions) List() []session.Session {
	if s.listing != nil {
		s.listing()
	}
	return s.list
}

func sessionDesktop(t *testing.T) (*desktop, *fakeSessions) {
	t.Helper()
	client := monitor.Client{Identity: monitor.Identity{PID: 7}, Name: "Codex\x1b[31m"}
	m := &fakeSessions{status: session.Terminated, list: []session.Session{
		{ID: 4711, State: session.StateRunning, ProjectPath: "/home/u/a project", Server: "serena", Port: 40000, MCPURL: "http://127.0.0.1:40000/mcp", StartedAt: noon, AskedBy: &client},
		{State: session.StateStarting, ProjectPath: "/" + strings.Repeat("long/", 40) + "end", Server: "other", StartedAt: noon},
	}}
	d := newDesktop(t)

	d.sessions = m
	d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1}})
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
		{[]string{"request", dir}, &session.TooMany{Live: 3, Limit: 3}, "", 1, "", "there are 3 sessions and the limit is 3"},
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
		d.out, d.err, m.err, m.status = apptest.Buffer{}, apptest.Buffer{}, test.err, test.status
		got := d.runs(t, append([]string{"session"}, test.args...)...)
		if got != test.want || d.out.String() != test.out || !strings.Contains(d.err.String(), test.say) || (test.say == "") != (d.err.String() == "") {
			t.Errorf("session %q: %d\n%s%s", test.args, got, d.out.String(), d.err.String())
		}
	}
	for _, r := range m.asked {
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
			m.status, m.refusal, m.list = test.status, test.refusal, nil
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			returned := make(chan struct{})
			if test.interrupted {
				m.listing = func() { cancel(); <-returned } // the list does not arrive any more
			}
			got := d.main(ctx, []string{"session", "request", t.TempDir()})
			close(returned)
			if got != 1 || d.out.String() != "" || !strings.HasSuffix(d.err.String(), test.say) {
				t.Errorf("%d %s%s", got, d.out.String(), d.err.String())
			}
			if len(m.released) != 1 || m.released[0] != 4711 {
				t.Errorf("released %v", m.released)
			}
		})
	}
}

// A directory is meant as the shell means it.
func TestSessionRequestFromHere(t *testing.T) {
	d, m := sessionDesktop(t)
	dir := t.TempDir()
	t.Chdir(dir)
	if d.runs(t, "session", "request", ".") != 0 || len(m.asked) != 1 {
		t.Fatal(d.err.String())
	}
	if got := m.asked[0].ProjectPath; got != dir {
		if a, err := filepath.EvalSymlinks(got); err != nil || a == got {
			t.Errorf("asked for %s, not %s", got, dir)
		}
	}
}

func TestSessionList(t *testing.T) {
	d, m := sessionDesktop(t)
	d.screen.width = 100
	if d.runs(t, "session", "list") != 0 {
		t.Fatal(d.err.String())
	}
	const want = "SESSION  PROJECT                           STATE     MCP                         SERVER  ASKED BY\n" +
		"   4711  /home/u/a project                 running   http://127.0.0.1:40000/mcp  serena  Codex[31m\n" +
		"      -  /long/long/long/…g/long/long/end  starting  -                           other   -\n"
	if got := d.out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for width, want := range map[int]string{
		80: "SESSION  PROJECT                            STATE     PORT   SERVER  ASKED BY\n" +
			"   4711  /home/u/a project                  running   40000  serena  Codex[31m\n",
		60: "SESSION  PROJECT                   STATE     PORT   SERVER\n" +
			"   4711  /home/u/a project         running   40000  serena\n",
		50: "SESSION  PROJECT                 STATE     PORT\n" +
			"   4711  /home/u/a project       running   40000\n",
	} {
		d.out, d.screen.width = apptest.Buffer{}, width
		if d.runs(t, "session", "list") != 0 || !strings.HasPrefix(d.out.String(), want) {
			t.Errorf("%d columns: got\n%s\nwant\n%s", width, d.out.String(), want)
		}
	}
	d.out = apptest.Buffer{}
	m.list = nil
	if d.runs(t, "session", "list") != 0 || d.out.String() != noSessions {
		t.Errorf("none: %s", d.out.String())
	}
	d.out = apptest.Buffer{}
	if d.runs(t, "session", "list", "--json") != 0 || d.out.String() != `{"sessions":[]}`+"\n" {
		t.Errorf("none, in JSON: %s", d.out.String())
	}
}

func TestSessionsAreCompleted(t *testing.T) {
	d, _ := sessionDesktop(t)
	d.runs(t, "__complete", "session", "release", "")
	if got := d.out.String(); got != "4711\tserena for /home/u/a project\n:4\n" {
		t.Errorf("%q", got)
	}
}

func TestSessionVerbsWithoutBackground(t *testing.T) {
	d := newDesktop(t)
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"request", t.TempDir()}, {"release", "7"}} {
		d.err = apptest.Buffer{}
		if got := d.runs(t, append([]string{"session"}, args...)...); got != statusUnreachable || !strings.Contains(d.err.String(), "session "+args[0]+": the background process cannot be reached") || !strings.Contains(d.err.String(), "; start it with: lamplighter run\n") {
			t.Errorf("session %q: %d %s", args, got, d.err.String())
		}
	}
}

func TestWhereSessionsAreAskedFor(t *testing.T) {
	for page, want := range map[string]string{
		"": "sessions are asked for on the control socket alone; another port can be set with session_port",
		"http://127.0.0.1:25282/global-dashboard/": "sessions are asked for at the global dashboard's port alone, http://127.0.0.1:25282/request-session; another port can be set with session_port",
	} {
		if got := askedAt(page); got != want {
			t.Errorf("%q: %s", page, got)
		}
	}
}

// What is started is what the settings say.
func TestSessionSpec(t *testing.T) {
	holds := config.Default().Sessions()
	holds.Templates = []config.Template{{Name: "acme", Command: config.Command{"acme", "{port}"}, Transport: config.SSE, Path: "/sse", Directory: "{project}", Env: config.Environment{"A": "b"}}}
	var s sessions
	s.holds.Store(&holds)
	serena, err := s.spec("/p", "")
	if got := serena.Template; err != nil || got.Name != monitor.KindSerena || got.Command != nil || len(got.Arguments) != 4 || got.Transport != launch.StreamableHTTP || serena.Limit != 10*time.Second {
		t.Errorf("%+v, %v", serena, err)
	}
	for _, name := range []string{"acme", ""} {
		holds.Server = "acme"
		acme, err := s.spec("/p", name)
		if got := acme.Template; err != nil || got.Name != "acme" || len(got.Command) != 2 || got.Transport != launch.SSE || got.Path != "/sse" || got.Directory != "{project}" || got.Env["A"] != "b" {
			t.Errorf("%+v, %v", acme, err)
		}
	}
	if _, err := s.spec("/p", "none"); !errors.Is(err, session.ErrNoServer) || !strings.Contains(err.Error(), `"none"`) {
		t.Error(err)
	}
}
