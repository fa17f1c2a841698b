//go:build real && linux

package sharing

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

// held is what status says of a server.
type held struct {
	PID       int
	Certainty string
	Entry     *struct{ Name, Client, File string }
	Command   *string
	Directory *string
}

// TestClientsHoldTheirServers: Codex and Gemini CLI start the servers of their own
// settings. Each has the name that its entry has, setup says which server runs from
// which entry, and an order for one client's server ends no other. The servers of other
// tests would be in its list.
func TestClientsHoldTheirServers(t *testing.T) {
	h := e2e.NewHome(t)
	h.Background(t, "run")
	project := serenatest.GoProject(t, "alpha")
	tools := serenatest.Tools(t)

	// Nobody answers, so that they wait with their servers.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	address := "http://" + silent.Addr().String()

	lines := map[string][]string{"notes": serenatest.Memory(t), "folder": serenatest.Filesystem(t, project), "clock": serenatest.Time(t)}
	path := "PATH=" + strings.Join([]string{filepath.Join(tools, "node", "bin"), filepath.Join(tools, "clients", "node_modules", ".bin"), "/usr/bin", "/bin"}, ":")
	env := append(slices.DeleteFunc(slices.Clone(h.Env), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), path)
	own := map[string]string{
		"PATH": path[len("PATH="):], "NPM_CONFIG_USERCONFIG": filepath.Join(tools, "npmrc"),
		"UV_CACHE_DIR": filepath.Join(tools, "uv"), "UV_OFFLINE": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_CONFIG_FILE": filepath.Join(tools, "uv.toml"),
		"API_KEY": "sk-verysecret1234",
	}
	quoted := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	codex := fmt.Sprintf("model_provider = \"here\"\n[model_providers.here]\nname = \"here\"\nbase_url = %q\nenv_key = \"OPENAI_API_KEY\"\n", address+"/v1")
	gemini := make(map[string]any)
	for name, line := range lines {
		codex += fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = %s\nstartup_timeout_sec = 120\n[mcp_servers.%s.env]\n", name, quoted(line[0]), quoted(line[1:]), name)
		for key, value := range own {
			codex += key + " = " + quoted(value) + "\n"
		}
		gemini[name] = map[string]any{"command": line[0], "args": line[1:], "env": own}
	}
	h.Write(t, codex, ".codex", "config.toml")
	h.Write(t, quoted(map[string]any{"mcpServers": gemini, "security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}}), ".gemini", "settings.json")
	h.Write(t, quoted(map[string]string{project: "TRUST_FOLDER"}), ".gemini", "trustedFolders.json")

	env = append(env, "OPENAI_API_KEY=x", "GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL="+address)
	said := []string{
		startClient(t, project, env, filepath.Join(tools, "clients", "node_modules", ".bin", "codex"), "exec", "--skip-git-repo-check", "hi"),
		startClient(t, project, env, filepath.Join(tools, "clients", "node_modules", ".bin", "gemini"), "-p", "hi"),
	}
	list := func() (all []held) {
		status, out, said := h.Does(t, "status", "--json")
		var answer struct{ Instances []held }
		if err := json.Unmarshal([]byte(out), &answer); err != nil || status != 0 {
			t.Fatalf("%d, %v: %s", status, err, said)
		}
		return answer.Instances
	}
	named := func() map[string]held {
		found := make(map[string]held)
		for _, one := range list() {
			if one.Entry != nil {
				found[one.Entry.Client+" "+one.Entry.Name] = one
			}
		}
		return found
	}
	t.Cleanup(func() {
		if t.Failed() {
			_, status, _ := h.Does(t, "status")
			t.Log(status)
			for _, path := range said {
				text, err := os.ReadFile(path)
				t.Logf("%s, %v", text, err)
			}
		}
	})
	apptest.Eventually(t, "each client has its three servers", func() bool { return len(named()) == 6 })
	for _, one := range list() {
		if one.Entry == nil || one.Certainty == "unsure" || one.Command == nil || one.Directory == nil {
			t.Errorf("%+v", one)
		}
	}

	_, out, _ := h.Does(t, "setup", "--list")
	for of, one := range named() {
		_, name, _ := strings.Cut(of, " ")
		apptest.Contains(t, out, fmt.Sprintf("Runs now: %d - %s.", one.PID, name[strings.LastIndexByte(name, ' ')+1:]))
	}
	if strings.Contains(out, "verysecret") {
		t.Errorf("a secret is shown: %s", out)
	}
	if status, _, said := h.Does(t, "stop", "clock"); status != 1 || !strings.Contains(said, "Codex") || !strings.Contains(said, "Gemini CLI") {
		t.Errorf("stop clock: %d, %s", status, said)
	}
	if status, out, said := h.Does(t, "stop", "clock", "--client", "codex", "--force"); status != 0 {
		t.Errorf("stop clock --client codex: %d, %s%s", status, out, said)
	}
	apptest.Eventually(t, "that of Codex has ended, and no other", func() bool {
		found := named()
		_, runs := found["Codex clock"]
		return !runs && len(found) == 5
	})
}

// startClient starts a client that has programs of its own between itself and its
// servers, and returns the path of what it says.
func startClient(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
	})
	return said.Name()
}
