package e2e

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

// Manager is a lamplighter in a home of its own, asked for sessions as a
// client asks.
type Manager struct {
	*Home
	Run  *Process
	Port int // of the session manager
	Page int // of the global dashboard
	// Mark is in the environment of all that comes of this home.
	Mark string
}

// ManagerHome is a home in which lamplighter does not run yet, with ports that
// no other test has.
func ManagerHome(t *testing.T) *Manager {
	t.Helper()
	m := &Manager{Home: NewHome(t), Port: apptest.FreePort(t), Page: apptest.FreePort(t), Mark: "STREET=" + rand.Text()}
	m.Env = append(m.Env, m.Mark)
	t.Cleanup(func() {
		killAll(t, m.Mark)
		killAll(t, Besides+m.Mark)
		if t.Failed() {
			lines := strings.Split(m.Log(t), "\n")
			t.Logf("it logged:\n%s", strings.Join(lines[max(len(lines)-40, 0):], "\n"))
		}
	})
	return m
}

// NewManager is one that runs. What comes besides the ports is in settings.
func NewManager(t *testing.T, settings string) *Manager {
	t.Helper()
	m := ManagerHome(t)
	m.Set(t, settings)
	m.Begin(t)
	return m
}

// Set writes the settings, with the ports.
func (m *Manager) Set(t *testing.T, settings string) {
	t.Helper()
	m.Settings(t, fmt.Sprintf("session_port: %d\n%s%s", m.Port, PortSetting(m.Page), settings))
}

// Begin starts lamplighter and waits until it takes requests.
func (m *Manager) Begin(t *testing.T) {
	t.Helper()
	m.Run = m.Background(t, "run")
	m.Ready(t)
}

func (m *Manager) Ready(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "the session manager answers", func() bool {
		status, _, _ := Fetch(t, m.At("/health"))
		return status == http.StatusOK
	})
}

// At is the address of a route of the session manager.
func (m *Manager) At(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", m.Port, path) }

// AcmeSettings are those of the stand-in server, which starts unless a request
// names another.
func AcmeSettings(t testing.TB) string {
	t.Helper()
	return "session_server: acme\nsession_start_seconds: 300\ntemplates:\n" + Template(t, "acme", AcmeServer(t))
}

// Template is one of a settings file.
func Template(t testing.TB, name string, command []string) string {
	t.Helper()
	// A list of JSON is one of YAML.
	text, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("  - name: %s\n    command: %s\n", name, text)
}

// Ends sends lamplighter a signal and waits for its end.
func (m *Manager) Ends(t *testing.T, s os.Signal) {
	t.Helper()
	m.Run.Signal(t, s)
	<-m.Run.Ended
}

// OnPage is what the global dashboard says of one server.
type OnPage struct {
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
func (m *Manager) instances(t *testing.T, list any) {
	t.Helper()
	body := TellsOfServers(t, PageAt(m.Page))
	if err := json.Unmarshal([]byte(body), list); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}

// Instance is what the global dashboard says of a pid; nil: nothing.
func (m *Manager) Instance(t *testing.T, pid int) *OnPage {
	t.Helper()
	var list struct{ Instances []OnPage }
	m.instances(t, &list)
	for _, in := range list.Instances {
		if in.PID != nil && *in.PID == pid {
			return &in
		}
	}
	return nil
}
