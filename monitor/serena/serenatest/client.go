package serenatest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callBudget covers a first call, which waits for the language server.
const callBudget = 4 * time.Minute

// Initialize makes the test the server's client: the handshake of MCP over
// stdio or, after WaitReady, over HTTP. From then on the ServerPID of another
// server than Serena is known as well.
func (s *Server) Initialize(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	defer cancel()
	var transport mcp.Transport = &mcp.IOTransport{Reader: s.Stdout, Writer: s.Stdin}
	var connections http.Transport
	if s.http {
		if s.MCPURL == "" {
			t.Fatal("where the server listens is not known before WaitReady")
		}
		transport = &mcp.StreamableClientTransport{
			Endpoint:             s.MCPURL,
			HTTPClient:           &http.Client{Transport: &connections},
			MaxRetries:           -1,
			DisableStandaloneSSE: true,
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "serenatest", Version: "1"}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		t.Fatalf("initialising the server with pid %d: %v", s.PID, err)
	}
	s.session = session
	if s.other {
		s.ServerPID = innermost(s.PID, s.Pids())
	}
	s.hangUp = func() {
		_ = session.Close() // the server is gone by then
		connections.CloseIdleConnections()
	}
}

// Call calls a tool and returns its answer as text. Initialize must have been
// called. A tool that answers with an error fails the test.
func (s *Server) Call(t testing.TB, tool string, args map[string]any) string {
	t.Helper()
	return s.Begin(t, tool, args)(t)
}

// Try is Call of a tool that may answer with an error.
func (s *Server) Try(t testing.TB, tool string, args map[string]any) string {
	t.Helper()
	return textOf(s.begin(t, tool, args)(t))
}

// Begin is Call in two steps: the tool is at work until the function that it
// returns, which must be called, has returned its answer.
func (s *Server) Begin(t testing.TB, tool string, args map[string]any) (answer func(testing.TB) string) {
	t.Helper()
	wait := s.begin(t, tool, args)
	return func(t testing.TB) string {
		t.Helper()
		result := wait(t)
		text := textOf(result)
		if result.IsError {
			t.Fatalf("calling %s: it answered with an error: %s", tool, text)
		}
		return text
	}
}

func (s *Server) begin(t testing.TB, tool string, args map[string]any) (answer func(testing.TB) *mcp.CallToolResult) {
	t.Helper()
	if s.session == nil {
		t.Fatal("call Initialize before Call")
	}
	if args == nil {
		args = map[string]any{} // a nil one would be null, which some servers refuse
	}
	type outcome struct {
		result *mcp.CallToolResult
		err    error
	}
	done := make(chan outcome, 1)
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	go func() {
		defer cancel()
		result, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		done <- outcome{result, err}
	}()
	return func(t testing.TB) *mcp.CallToolResult {
		t.Helper()
		o := <-done
		if o.err != nil {
			t.Fatalf("calling %s: %v", tool, o.err)
		}
		return o.result
	}
}

func textOf(result *mcp.CallToolResult) string {
	var text strings.Builder
	for _, c := range result.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	return text.String()
}
