//go:build real && linux

package sharing

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

// folders are that many without a project of Git or Serena.
func folders(t *testing.T, many int) []string {
	t.Helper()
	dirs := make([]string, many)
	for i := range dirs {
		dirs[i] = filepath.Join(t.TempDir(), fmt.Sprint("folder", i))
		if err := os.Mkdir(dirs[i], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// Three clients with Serena's default command, in three folders, share one server,
// whatever their context; each has that of its project from when it activates one.
func TestClientsWithoutAProject(t *testing.T) {
	t.Parallel()
	s := e2e.SharingHome(t)
	for _, context := range []string{"", "codex", "claude-code"} {
		command := []string{"serena", "start-mcp-server", "--agent-interface", "tools"}
		if context != "" {
			command = append(command, "--context", context)
		}
		dirs := folders(t, 3)
		before := s.Serenas()
		var clients []*e2e.Shim
		for _, dir := range dirs {
			client := s.Wrap(t, dir, command...)
			client.Handshake(t)
			clients = append(clients, client)
			if text := client.Calls(t, 1, "initial_instructions", map[string]any{}); !strings.Contains(text, "Serena") {
				t.Errorf("%s: its instructions are %.300q", context, text)
			}
			client.Call(t, 2, "list_dir", map[string]any{"relative_path": ".", "recursive": false})
			if r := client.Await(t, "2"); !strings.Contains(r.Line, "No project is active. Call activate_project first") {
				t.Errorf("%s: without a project it was answered %s", context, r.Line)
			}
		}
		if got := len(s.Serenas()) - len(before); got != 1 {
			t.Errorf("%s: %d more servers for three clients: %v", context, got, s.Servers())
		}
		for i, client := range clients {
			if text := client.Calls(t, 3, "activate_project", map[string]any{"project": dirs[i], "session": "x"}); !strings.Contains(text, dirs[i]) {
				t.Errorf("%s: activating said %.300q", context, text)
			}
			client.Calls(t, 4, "write_memory", map[string]any{"memory_name": fmt.Sprint("of", i), "content": "x"})
		}
		for i, dir := range dirs {
			if got := names(t, filepath.Join(dir, ".serena", "memories")); !slices.Equal(got, []string{fmt.Sprintf("of%d.md", i)}) {
				t.Errorf("%s: folder %d holds %q", context, i, got)
			}
		}
		// The tools of a server for one project are others.
		changed := strings.Contains(strings.Join(clients[0].Told, ""), "tools/list_changed")
		clients[0].Send(t, `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`)
		if has := strings.Contains(clients[0].Await(t, "5").Line, `"activate_project"`); has == (context == "claude-code") || context == "claude-code" && !changed {
			t.Errorf("%s: it lists activate_project: %v; told that they changed: %v", context, has, changed)
		}
		for _, client := range clients {
			client.Terminated(t)
		}
	}
}

// Codex, Gemini CLI and a third client share one server by Serena's default command, in
// three folders.
func TestDefaultCommandOfRealClients(t *testing.T) {
	t.Parallel()
	s := e2e.SharingHome(t)
	bin := filepath.Join(serenatest.Tools(t), "clients", "node_modules", ".bin")
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody answers, so that they wait with their servers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	address := "http://" + silent.Addr().String()
	// They pass on little of the environment, and nobody has a /run/user here.
	line := append([]string{"env"}, slices.DeleteFunc(slices.Clone(s.Env), func(kv string) bool { return strings.HasPrefix(kv, "XDG_") })...)
	line = append(line, e2e.ConnectProgram(), "connect", "--socket", s.Path("run", "lamplighter", "share.sock"), "--", "serena", "start-mcp-server")
	dirs := folders(t, 3)
	args, err := json.Marshal(line[1:])
	gemini, errGemini := json.Marshal(map[string]any{
		"mcpServers": map[string]any{"serena": map[string]any{"command": line[0], "args": line[1:]}},
		"security":   map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
	})
	trusted, errTrusted := json.Marshal(map[string]string{dirs[1]: "TRUST_FOLDER"})
	if err := errors.Join(err, errGemini, errTrusted); err != nil {
		t.Fatal(err)
	}
	s.Write(t, fmt.Sprintf("model_provider = \"here\"\n[model_providers.here]\nname = \"here\"\nbase_url = %q\nenv_key = \"OPENAI_API_KEY\"\n"+
		"[mcp_servers.serena]\ncommand = \"env\"\nargs = %s\nstartup_timeout_sec = 120\n", address+"/v1", args), ".codex", "config.toml")
	s.Write(t, string(gemini), ".gemini", "settings.json")
	s.Write(t, string(trusted), ".gemini", "trustedFolders.json")
	env := append(e2e.WithClients(t, s.Env), "OPENAI_API_KEY=x", "GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL="+address)
	startClient(t, dirs[0], env, filepath.Join(bin, "codex"), "exec", "--skip-git-repo-check", "hi")
	startClient(t, dirs[1], env, filepath.Join(bin, "gemini"), "-p", "hi")
	client := s.WrapAs(t, dirs[2], line)
	client.Handshake(t)
	client.Calls(t, 1, "initial_instructions", map[string]any{})
	apptest.Eventually(t, "all three share one", func() bool {
		shared := s.Shared(t)
		return len(shared) == 1 && *shared[0].SharedBy == 3
	})
	if found := s.Serenas(); len(found) != 1 {
		t.Errorf("servers: %v", s.Servers())
	}
}

// A client over HTTP that names no project has that of its only root.
func TestProjectOfTheRoots(t *testing.T) {
	t.Parallel()
	s := e2e.SharingHome(t)
	project := e2e.NamedProject(t, "pier")
	client := mcp.NewClient(&mcp.Implementation{Name: "roots", Version: "1"}, nil)
	hasRoot := func(dir string) {
		//lint:ignore SA1019 clients of this year's versions have them
		client.AddRoots(&mcp.Root{URI: "file://" + dir})
	}
	hasRoot(project)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Page)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list := &mcp.CallToolParams{Name: "list_dir", Arguments: map[string]any{"relative_path": ".", "recursive": false}}
	result, err := session.CallTool(t.Context(), list)
	if err != nil || result.IsError || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, "own.go") {
		t.Errorf("%+v, %v", result, err)
	}
	hasRoot(filepath.Dir(project)) // which is in no project
	if result, err := session.CallTool(t.Context(), list); err != nil || result.IsError {
		t.Errorf("%+v, %v", result, err)
	}
	apptest.Eventually(t, "its project is shown", func() bool {
		for _, in := range s.Shared(t) {
			if in.ProjectRoot != nil && *in.ProjectRoot == project {
				return true
			}
		}
		return false
	})
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

// Ten clients among five projects, with 500 edits between their moves, and a kill of
// Lamplighter: each is where its client was.
func TestNoEditIsMisplaced(t *testing.T) {
	t.Parallel()
	s := e2e.SharingHome(t)
	const many = 10
	dirs := folders(t, 5)
	elsewhere := folders(t, many)
	r := rand.New(rand.NewPCG(1, 2))
	want := map[string][]string{}
	edits := 0
	type mover struct {
		*e2e.Shim
		id int
	}
	var clients []*mover
	for i := range many {
		m := &mover{Shim: s.Wrap(t, elsewhere[i], "serena", "start-mcp-server", "--agent-interface", "tools")}
		m.Handshake(t)
		clients = append(clients, m)
	}
	for round := range 10 {
		begun := map[*mover]int{}
		for i, m := range clients {
			dir := dirs[r.IntN(len(dirs))]
			m.id++
			m.Call(t, m.id, "activate_project", map[string]any{"project": dir, "session": "x"})
			begun[m] = m.id
			for range 5 {
				m.id++
				name := fmt.Sprintf("client%d-%d.txt", i, m.id)
				m.Call(t, m.id, "create_text_file", map[string]any{"relative_path": name, "content": dir})
				want[dir] = append(want[dir], name)
				edits++
			}
		}
		for _, m := range clients {
			for id := begun[m]; id <= m.id; id++ {
				m.Await(t, fmt.Sprint(id)).Text(t)
			}
		}
		if round == 4 { // the shims know their projects
			s.Ends(t, os.Kill)
			s.Begin(t)
		}
	}
	for _, dir := range dirs {
		got := slices.DeleteFunc(names(t, dir), func(name string) bool { return name == ".serena" })
		slices.Sort(want[dir])
		if !slices.Equal(got, want[dir]) {
			t.Errorf("%s holds %q, want %q", dir, got, want[dir])
		}
		for _, name := range got {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != dir {
				t.Errorf("%s in %s holds %q, %v", name, dir, text, err)
			}
		}
	}
	if edits != 500 || len(s.Serenas()) > len(dirs)+1 {
		t.Errorf("%d edits with %d servers", edits, len(s.Serenas()))
	}
	apptest.Eventually(t, "all clients are shown", func() bool {
		shown := 0
		for _, in := range s.Shared(t) {
			if in.SharedBy != nil {
				shown += *in.SharedBy
			}
		}
		return shown == many
	})
}
