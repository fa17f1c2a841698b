package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// requestOf names the kind of server besides.
func requestOf(project, server string) string {
	text, _ := json.Marshal(map[string]string{"project_path": project, "server": server}) // of text it never fails
	return string(text)
}

// Servers with bad habits serve all the same, under their own pid, and end with
// all that they started.
func TestSessionServersWithBadHabits(t *testing.T) {
	t.Parallel()
	habits := map[string][]string{
		"plain":    nil,
		"other":    {"--other"},
		"noisy":    {"--noise", "100"},
		"forking":  {"--fork"},
		"stubborn": {"--stubborn", "--child"},
		"daemon":   {"--fork", "--stubborn", "--child"},
	}
	settings := "session_start_seconds: 300\ntemplates:\n"
	for name, flags := range habits {
		settings += template(t, name, acmeServer(t, flags...))
	}
	self := acmeServer(t)[0]
	settings += template(t, "port-file", []string{self, acmeMode, "--port-file", "{port_file}", "--project={project}"})
	settings += template(t, "wrapped", append([]string{"/bin/sh", "-c", `"$@"; exit $?`, "sh"}, acmeServer(t)...))
	m := newManager(t, settings)
	project := projectDir(t, "alpha")
	names := []string{"plain", "other", "noisy", "forking", "stubborn", "daemon", "port-file", "wrapped"}
	all := make([]asked, len(names))
	for i, name := range names {
		status, answer, err := post(t.Context(), m.at("/request-session"), requestOf(project, name))
		if err == nil {
			all[i], err = given(status, answer)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if w := all[i].where(t); w.PID != all[i].ID {
			t.Errorf("%s: session %d is %d", name, all[i].ID, w.PID)
		}
		if list := m.sessions(t); len(list) != i+1 || list[i].Server != name {
			t.Errorf("%s: %+v", name, list)
		}
	}
	together(len(all), func(i int) {
		status, answer, err := post(t.Context(), m.at("/release-session"), releaseBody(all[i].ID))
		if err != nil || status != http.StatusOK || answer != released("terminated", all[i].ID) {
			t.Errorf("%s: %d %s, %v", names[i], status, answer, err)
		}
	})
	for _, s := range all {
		s.isGone(t)
	}
	m.nothingLeft(t)
}

// What we start sees neither our own variables nor those of whoever started us.
func TestSessionEnvironment(t *testing.T) {
	t.Parallel()
	m := managerHome(t)
	foreign := []string{"LAMPLIGHTER_TEST=x", "NOTIFY_SOCKET=/x", "LISTEN_FDS=1", "LISTEN_PID=1", "INVOCATION_ID=x", "JOURNAL_STREAM=1:2", "DESKTOP_STARTUP_ID=x", "VIRTUAL_ENV=/x", "CONDA_PREFIX=/x"}
	m.env = append(m.env, append(foreign, "MINE=kept")...)
	m.set(t, acmeSettings(t))
	m.begin(t)
	s := m.request(t, projectDir(t, "alpha"))
	w := s.where(t)
	for _, kv := range foreign {
		if slices.Contains(w.Env, kv) {
			t.Errorf("the server sees %s", kv)
		}
	}
	if !slices.Contains(w.Env, "MINE=kept") || !slices.Contains(w.Env, "HOME="+m.dir) {
		t.Errorf("the server sees %q", w.Env)
	}
	m.release(t, s)
}

// A server that cannot start is explained in the answer, and nothing of it
// stays.
func TestSessionServersThatCannotStart(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "no-such-server")
	patient := newManager(t, "session_start_seconds: 300\ntemplates:\n"+
		template(t, "complains", acmeServer(t, "--say", "the database of lamps is locked"))+
		template(t, "missing", []string{missing, "{port}"})+
		template(t, "quits", []string{"/bin/true", "{port}"})+
		template(t, "directory", []string{"/tmp", "{port}"})+
		template(t, "brief", acmeServer(t, "--brief")))
	hasty := newManager(t, "session_start_seconds: 1\ntemplates:\n"+
		template(t, "mute", acmeServer(t, "--mute"))+
		template(t, "mute-stubborn", acmeServer(t, "--mute", "--stubborn", "--child")))
	project := projectDir(t, "alpha")
	for _, test := range []struct {
		m      *manager
		server string
		want   []string
	}{
		{patient, "complains", []string{"the database of lamps is locked"}},
		{hasty, "mute", []string{"did not accept MCP within 1", "did not listen on port"}},
		{hasty, "mute-stubborn", []string{"did not accept MCP within 1"}},
		{patient, "missing", []string{missing}},
		{patient, "quits", []string{"/bin/true", "status 0"}},
		{patient, "directory", []string{"/tmp"}},
	} {
		m := test.m
		var status int
		var answer string
		var err error
		// Where the keeper takes all of the time, nothing is known of the server yet.
		apptest.Eventually(t, test.server+" is started before its time is over", func() bool {
			status, answer, err = post(t.Context(), m.at("/request-session"), requestOf(project, test.server))
			return !strings.HasSuffix(answer, `within 1 s"}`)
		})
		var failure map[string]string
		if err != nil || status != http.StatusInternalServerError || json.Unmarshal([]byte(answer), &failure) != nil || len(failure) != 1 || failure["error"] == "" {
			t.Errorf("%s: %d %s, %v", test.server, status, answer, err)
			continue
		}
		t.Logf("%s: %s", test.server, failure["error"])
		apptest.Contains(t, failure["error"], test.want...)
		if strings.Contains(failure["error"], "\n") {
			t.Errorf("%s: more than a line: %q", test.server, failure["error"])
		}
		m.nothingLeft(t)
		if list := m.sessions(t); len(list) != 0 {
			t.Errorf("%s: %+v", test.server, list)
		}
	}
	m := patient
	status, answer, err := post(t.Context(), m.at("/request-session"), requestOf(project, "no-such-server"))
	if err != nil || status != http.StatusNotFound || !strings.Contains(answer, "no-such-server") {
		t.Errorf("an unknown server: %d %s, %v", status, answer, err)
	}
	// One that ends as soon as it was ready may have been given or not.
	status, answer, err = post(t.Context(), m.at("/request-session"), requestOf(project, "brief"))
	switch s, why := given(status, answer); {
	case err != nil || why != nil && status != http.StatusInternalServerError:
		t.Errorf("brief: %d %s, %v", status, answer, err)
	case why == nil:
		apptest.Eventually(t, "it has ended", func() bool { return !alive(s.ID) })
		m.expect(t, "/release-session", releaseBody(s.ID), http.StatusOK, released("already_gone", s.ID))
	}
	m.nothingLeft(t)
}

// Without a place for its records lamplighter starts nothing that might outlive
// it, and says so.
func TestSessionWithoutAStateDirectory(t *testing.T) {
	t.Parallel()
	m := managerHome(t)
	m.env = append(m.env, "LAMPLIGHTER_STATE_DIR=/proc/self/fdinfo/x")
	m.set(t, acmeSettings(t))
	m.begin(t)
	status, answer, err := post(t.Context(), m.at("/request-session"), requestBody(projectDir(t, "alpha")))
	if err != nil || status != http.StatusInternalServerError {
		t.Errorf("%d %s, %v", status, answer, err)
	}
	apptest.Contains(t, answer, "no place for the records", "lamplighter doctor")
	m.nothingLeft(t)
}
