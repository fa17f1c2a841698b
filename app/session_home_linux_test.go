package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// manager is a lamplighter in a home of its own, asked for sessions as a
// client asks.
type manager struct {
	*home
	run  *process
	port int // of the session manager
	page int // of the global dashboard
	// mark is in the environment of all that comes of this home.
	mark string
}

// managerHome is a home in which lamplighter does not run yet, with ports that
// no other test has.
func managerHome(t *testing.T) *manager {
	t.Helper()
	m := &manager{home: newHome(t), port: freePort(t), page: freePort(t), mark: "STREET=" + rand.Text()}
	m.env = append(m.env, m.mark)
	t.Cleanup(func() {
		killAll(t, m.mark)
		killAll(t, besides+m.mark)
		if t.Failed() {
			lines := strings.Split(m.log(t), "\n")
			t.Logf("it logged:\n%s", strings.Join(lines[max(len(lines)-40, 0):], "\n"))
		}
	})
	return m
}

// newManager is one that runs. What comes besides the ports is in settings.
func newManager(t *testing.T, settings string) *manager {
	t.Helper()
	m := managerHome(t)
	m.set(t, settings)
	m.begin(t)
	return m
}

// set writes the settings, with the ports.
func (m *manager) set(t *testing.T, settings string) {
	t.Helper()
	m.settings(t, fmt.Sprintf("session_port: %d\n%s%s", m.port, portSetting(m.page), settings))
}

// begin starts lamplighter and waits until it takes requests.
func (m *manager) begin(t *testing.T) {
	t.Helper()
	m.run = m.background(t, "run")
	m.ready(t)
}

func (m *manager) ready(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "the session manager answers", func() bool {
		status, _, _ := fetch(t, m.at("/health"))
		return status == http.StatusOK
	})
}

// at is the address of a route of the session manager.
func (m *manager) at(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", m.port, path) }

// acmeSettings are those of the stand-in server, which starts unless a request
// names another.
func acmeSettings(t testing.TB, habits ...string) string {
	t.Helper()
	return "session_server: acme\nsession_start_seconds: 300\ntemplates:\n" + template(t, "acme", acmeServer(t, habits...))
}

// template is one of a settings file.
func template(t testing.TB, name string, command []string) string {
	t.Helper()
	// A list of JSON is one of YAML.
	text, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("  - name: %s\n    command: %s\n", name, text)
}

// ends sends lamplighter a signal and waits for its end.
func (m *manager) ends(t *testing.T, s os.Signal) {
	t.Helper()
	m.run.signal(t, s)
	<-m.run.ended
}

// onPage is what the global dashboard says of one server.
type onPage struct {
	Kind, State string
	Managed     bool
	PID         *int
	Port        *int
	Client      *struct {
		PID  int
		Name string
	}
	MCPURL      *string `json:"mcp_url"`
	ProjectRoot *string `json:"project_root"`
}

// instances reads what the global dashboard says of all servers, once it says
// anything: sessions may be had before the page.
func (m *manager) instances(t *testing.T, list any) {
	t.Helper()
	body := tellsOfServers(t, pageAt(m.page))
	if err := json.Unmarshal([]byte(body), list); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}

// instance is what the global dashboard says of a pid; nil: nothing.
func (m *manager) instance(t *testing.T, pid int) *onPage {
	t.Helper()
	var list struct{ Instances []onPage }
	m.instances(t, &list)
	for _, in := range list.Instances {
		if in.PID != nil && *in.PID == pid {
			return &in
		}
	}
	return nil
}
