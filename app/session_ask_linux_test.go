package main

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

	"lamplighter/app/apptest"
)

// asked is a session that was given.
type asked struct {
	ID   int
	Port int
}

// post sends a body, and returns what came as it came.
func post(ctx context.Context, address, body string) (status int, answer string, err error) {
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

// requestBody is what asks for a session.
func requestBody(project string) string {
	text, _ := json.Marshal(map[string]string{"project_path": project}) // of text it never fails
	return string(text)
}

// expect checks an answer, to the letter.
func (m *manager) expect(t *testing.T, path, body string, status int, want string) {
	t.Helper()
	got, answer, err := post(t.Context(), m.at(path), body)
	if err != nil || got != status || answer != want {
		t.Errorf("%s %s: %d %s, %v; want %d %s", path, excerptOf(body), got, answer, err, status, want)
	}
}

func excerptOf(text string) string {
	if len(text) > 200 {
		return text[:200] + "…"
	}
	return text
}

// tries asks for a session in any goroutine.
func (m *manager) tries(ctx context.Context, project string) (asked, error) {
	status, answer, err := post(ctx, m.at("/request-session"), requestBody(project))
	if err != nil {
		return asked{}, err
	}
	return given(status, answer)
}

// given reads an answer that gives a session: R1's three keys and no other.
func given(status int, answer string) (asked, error) {
	var got struct {
		ID   int    `json:"session_id"`
		Host string `json:"host"`
		Port int    `json:"port"`
	}
	if status != http.StatusCreated {
		return asked{}, fmt.Errorf("%d %s", status, answer)
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return asked{}, fmt.Errorf("%s: %w", answer, err)
	}
	if want := fmt.Sprintf(`{"session_id":%d,"host":"127.0.0.1","port":%d}`, got.ID, got.Port); answer != want {
		return asked{}, fmt.Errorf("got %s, want %s", answer, want)
	}
	return asked{got.ID, got.Port}, nil
}

// request asks for a session and gets it.
func (m *manager) request(t *testing.T, project string) asked {
	t.Helper()
	s, err := m.tries(t.Context(), project)
	if err != nil {
		t.Fatalf("a session for %q: %v", project, err)
	}
	return s
}

// release ends a session, and checks that none of its processes is left.
func (m *manager) release(t *testing.T, s asked) {
	t.Helper()
	m.expect(t, "/release-session", releaseBody(s.ID), http.StatusOK, released("terminated", s.ID))
	s.isGone(t)
}

func releaseBody(id int) string { return fmt.Sprintf(`{"session_id": %d}`, id) }

func released(status string, id int) string {
	return fmt.Sprintf(`{"status":%q,"session_id":%d}`, status, id)
}

const (
	noPath = `{"error":"Invalid or missing 'project_path'"}`
	noID   = `{"error":"Invalid or missing 'session_id'"}`
)

// isGone checks that a server has ended, and its port refuses.
func (s asked) isGone(t *testing.T) {
	t.Helper()
	if alive(s.ID) {
		t.Errorf("the server with pid %d is left", s.ID)
	}
	if s.listens() {
		t.Errorf("port %d is still open", s.Port)
	}
}

// goes waits until the server has gone, where nobody has said so: a process that
// has no command line any more may still be on its way out.
func (s asked) goes(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, fmt.Sprintf("the server with pid %d is gone", s.ID), func() bool { return !alive(s.ID) })
	s.isGone(t)
}

func (s asked) listens() bool {
	conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", s.Port))
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// listedSession is one of GET /sessions.
type listedSession struct {
	SessionID    *int   `json:"session_id"`
	Host         string `json:"host"`
	Port         *int   `json:"port"`
	State        string `json:"state"`
	ProjectPath  string `json:"project_path"`
	Server       string `json:"server"`
	MCPURL       string `json:"mcp_url"`
	DashboardURL string `json:"dashboard_url"`
	StartedAt    string `json:"started_at"`
	AskedBy      *struct {
		PID  int
		Name string
	} `json:"asked_by"`
}

// sessions is GET /sessions.
func (m *manager) sessions(t *testing.T) []listedSession {
	t.Helper()
	status, _, body := fetch(t, m.at("/sessions"))
	var list struct{ Sessions []listedSession }
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK || list.Sessions == nil {
		t.Fatalf("GET /sessions: %d %s, %v", status, body, err)
	}
	return list.Sessions
}

// connect is the handshake of MCP with a session, over streamable HTTP, with a
// stream that stays open as those of real clients do.
func (s asked) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	var connections http.Transport
	return connectBy(t, &mcp.StreamableClientTransport{
		Endpoint:   fmt.Sprintf("http://127.0.0.1:%d/mcp", s.Port),
		HTTPClient: &http.Client{Transport: &connections}, MaxRetries: -1,
	}, connections.CloseIdleConnections)
}

func connectBy(t *testing.T, transport mcp.Transport, hangUp func()) *mcp.ClientSession {
	t.Helper()
	// The older transport's stream lives as long as the context.
	session, err := mcp.NewClient(&mcp.Implementation{Name: "session-test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatalf("initialising: %v", err)
	}
	t.Cleanup(func() {
		_ = session.Close() // the server may be gone
		hangUp()
	})
	return session
}

// calls calls a tool, and returns its text.
func calls(t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) string {
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

// where asks the stand-in server how it was started.
func (s asked) where(t *testing.T) acmeWhere {
	t.Helper()
	var w acmeWhere
	text := calls(t, s.connect(t), "where", nil)
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return w
}
