package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Asked is a session that was given.
type Asked struct {
	ID   int
	Port int
}

// Post sends a body, and returns what came as it came.
func Post(ctx context.Context, address, body string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSuffix(string(text), "\n"), err
}

// RequestBody is what asks for a session.
func RequestBody(project string) string {
	text, _ := json.Marshal(map[string]string{"project_path": project}) // of text it never fails
	return string(text)
}

// Expect checks an answer, to the letter.
func (m *Manager) Expect(t *testing.T, path, body string, status int, want string) {
	t.Helper()
	got, answer, err := Post(t.Context(), m.At(path), body)
	if err != nil || got != status || answer != want {
		t.Errorf("%s %s: %d %s, %v; want %d %s", path, ExcerptOf(body), got, answer, err, status, want)
	}
}

func ExcerptOf(text string) string {
	if len(text) > 200 {
		return text[:200] + "…"
	}
	return text
}

// Given reads an answer that gives a session: R1's three keys and no other.
func Given(status int, answer string) (Asked, error) {
	var got struct {
		ID   int    `json:"session_id"`
		Host string `json:"host"`
		Port int    `json:"port"`
	}
	if status != http.StatusCreated {
		return Asked{}, fmt.Errorf("%d %s", status, answer)
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return Asked{}, fmt.Errorf("%s: %w", answer, err)
	}
	if want := fmt.Sprintf(`{"session_id":%d,"host":"127.0.0.1","port":%d}`, got.ID, got.Port); answer != want {
		return Asked{}, fmt.Errorf("got %s, want %s", answer, want)
	}
	return Asked{got.ID, got.Port}, nil
}

// Request asks for a session and gets it.
func (m *Manager) Request(t *testing.T, project string) Asked {
	t.Helper()
	status, answer, err := Post(t.Context(), m.At("/request-session"), RequestBody(project))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Given(status, answer)
	if err != nil {
		t.Fatalf("a session for %q: %v", project, err)
	}
	return s
}

// Release ends a session, and checks that none of its processes is left.
func (m *Manager) Release(t *testing.T, s Asked) {
	t.Helper()
	m.Expect(t, "/release-session", ReleaseBody(s.ID), http.StatusOK, Released("terminated", s.ID))
	s.IsGone(t)
}

func ReleaseBody(id int) string { return fmt.Sprintf(`{"session_id": %d}`, id) }

func Released(status string, id int) string {
	return fmt.Sprintf(`{"status":%q,"session_id":%d}`, status, id)
}

// IsGone checks that a server has ended, and its port refuses.
func (s Asked) IsGone(t *testing.T) {
	t.Helper()
	if Alive(s.ID) {
		t.Errorf("the server with pid %d is left", s.ID)
	}
	if conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", s.Port)); err == nil {
		conn.Close()
		t.Errorf("port %d is still open", s.Port)
	}
}

// Sessions is GET /sessions.
func (m *Manager) Sessions(t *testing.T) []map[string]any {
	t.Helper()
	status, _, body := Fetch(t, m.At("/sessions"))
	var list struct{ Sessions []map[string]any }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK || list.Sessions == nil {
		t.Fatalf("GET /sessions: %d %s, %v", status, body, err)
	}
	return list.Sessions
}

// Connect is the handshake of MCP with a session, over streamable HTTP, with a
// stream that stays open as those of real clients do.
func (s Asked) Connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	var connections http.Transport
	session, err := mcp.NewClient(&mcp.Implementation{Name: "session-test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint:   fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Port),
		HTTPClient: &http.Client{Transport: &connections}, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatalf("initialising: %v", err)
	}
	t.Cleanup(func() {
		_ = session.Close() // the server may be gone
		connections.CloseIdleConnections()
	})
	return session
}

// Calls calls a tool, and returns its text.
func Calls(t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var text strings.Builder
	for _, c := range result.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	if result.IsError {
		t.Fatalf("%s: %s", tool, text.String())
	}
	return text.String()
}

// RequestOf names the kind of server besides.
func RequestOf(project, server string) string {
	text, _ := json.Marshal(map[string]string{"project_path": project, "server": server}) // of text it never fails
	return string(text)
}
