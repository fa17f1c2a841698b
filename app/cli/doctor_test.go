package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/setup"
	"lamplighter/monitor"
)

func TestDoctor(t *testing.T) {
	d := newDesktop(t, serenaAt(7, 24282, "alpha"))
	d.snap.Instances[0].Version = "1.5.3"
	status := d.runs(t, "doctor")
	text := d.out.String()
	// There is no home in this world, which is told as broken.
	if status != statusFailed || d.err.String() != "" {
		t.Errorf("status %d, said %q", status, d.err.String())
	}
	apptest.Contains(t, text, "Lamplighter\n", "lamplighter 1.2.3", "there is no home directory", "Serena\n", "1 running server is Serena 1.5.3",
		"PATH\n", "Desktop\n", "Ports\n", "Files\n", "Settings\n", "Sharing\n", "Clients\n", "Start at login\n", "Registry\n", "Other users\n", " broken, ")
	// No variable says that the output may be anything but ASCII.
	for _, r := range text {
		if r > '~' {
			t.Fatalf("%q is printed:\n%s", r, text)
		}
	}
	apptest.Contains(t, text, "\n  ok ", "\n  !  ", "\n  x  ", "\n     -> ")
}

func TestDoctorJSON(t *testing.T) {
	d := newDesktop(t)
	if status := d.runs(t, "doctor", "--json"); status != statusFailed {
		t.Errorf("status %d", status)
	}
	var report struct {
		OK    bool `json:"ok"`
		Lines []struct {
			Area, Mark, Text string
			Means, Do        *string
			Candidate        *struct {
				Command []string
				Problem string
			}
		} `json:"lines"`
	}
	if err := json.Unmarshal([]byte(d.out.String()), &report); err != nil {
		t.Fatalf("%v: %s", err, d.out.String())
	}
	if report.OK || strings.Count(d.out.String(), "\n") != 1 {
		t.Errorf("got %s", d.out.String())
	}
	candidates := 0
	for _, l := range report.Lines {
		if l.Area == "" || l.Text == "" || l.Means == nil || l.Do == nil || !strings.Contains("ok warn broken", l.Mark) {
			t.Errorf("line %+v", l)
		}
		if l.Candidate != nil && len(l.Candidate.Command) > 0 {
			candidates++
		}
	}
	if candidates == 0 {
		t.Error("no candidate is told")
	}
}

func TestDoctorAsksTheBackground(t *testing.T) {
	d := newDesktop(t)
	in := serenaAt(7, 24282, "alpha")
	in.Version = "2.1.0"
	d.serveBackground(t, &model{current: &monitor.Snapshot{Seq: 1, Instances: []monitor.Instance{in}}})
	d.getenv = func(name string) string { return map[string]string{"LANG": "C.UTF-8"}[name] }
	d.screen = screen{terminal: true, colour: true, width: 100}
	d.runs(t, "doctor")
	text := d.out.String()
	apptest.Contains(t, text, "the background process runs (pid ", "the same version", "1 running server is Serena 2.1.0", "\x1b[32m✓\x1b[0m")
	// The place of the socket may be wrapped anywhere before that.
	apptest.Contains(t, strings.Join(strings.Fields(text), " "), "answers, and is yours alone")
	for _, line := range strings.Split(text, "\n") {
		plain := strings.NewReplacer("\x1b[32m", "", "\x1b[33m", "", "\x1b[31m", "", "\x1b[0m", "").Replace(line)
		// Only a word that is too long itself may be wider.
		if monitor.Columns(plain) > 100 && len(strings.Fields(plain)) > 2 {
			t.Errorf("too wide: %q", plain)
		}
	}
}

// The settings of clients are looked for in the user's home and with the
// environment of this command, as the verb setup does.
func TestDoctorLooksAtTheUsersClients(t *testing.T) {
	d := newDesktop(t)
	d.base.Home = t.TempDir()
	connect := d.withConnect(t)
	d.getenv = func(name string) string { return "value of " + name }
	var asked setup.Options
	d.setup = func(o setup.Options) api.Setup {
		asked = o
		return setup.New(setup.Options{Home: o.Home, Getenv: func(string) string { return "" }, State: o.State})
	}
	if err := os.WriteFile(filepath.Join(d.base.Home, ".claude.json"), []byte(`{"mcpServers": {"a": {"url": "http://127.0.0.1:1"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.runs(t, "doctor")
	if asked.Home != d.base.Home || asked.Getenv("CODEX_HOME") != "value of CODEX_HOME" || asked.Connect != connect || asked.State != d.places().StateDir || !filepath.IsAbs(asked.Dir) {
		t.Errorf("%+v", asked)
	}
	apptest.Contains(t, d.out.String(), "Claude Code: 1 MCP server\n", ".claude.json: at an address: a\n")
}

func TestDoctorUsage(t *testing.T) {
	d := newDesktop(t)
	if status := d.runs(t, "doctor", "all"); status != statusUsage {
		t.Errorf("status %d", status)
	}
	apptest.Contains(t, d.err.String(), "doctor takes no argument")
	d = newDesktop(t)
	d.runs(t, "--help")
	apptest.Contains(t, d.out.String(), "  doctor ")
}
