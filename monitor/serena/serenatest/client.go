package serenatest

import (
	"context"
	"net/http"
	"slices"
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
	var transport mcp.Transport = &mcp.IOTransport{Reader: s.Stdout, Writer: s.stdin}
	var connections http.Transport
	if s.stdin == nil {
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
		s.ServerPID = slices.Max(append(s.Pids(), s.PID)) // launchers were started before
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
	text, _ := s.begin(t, tool, args)(t)
	return text
}

// Begin is Call in two steps: the tool is at work until the function that it
// returns, which must be called, has returned its answer.
func (s *Server) Begin(t testing.TB, tool string, args map[string]any) (answer func(testing.TB) string) {
	t.Helper()
	wait := s.begin(t, tool, args)
	return func(t testing.TB) string {
		t.Helper()
		text, failed := wait(t)
		if failed {
			t.Fatalf("calling %s: it answered with an error: %s", tool, text)
		}
		return text
	}
}

func (s *Server) begin(t testing.TB, tool string, args map[string]any) (answer func(testing.TB) (text string, failed bool)) {
	t.Helper()
	var result *mcp.CallToolResult
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), callBudget)
	go func() {
		defer cancel()
		var err error
		result, err = s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		done <- err
	}()
	return func(t testing.TB) (text string, failed bool) {
		t.Helper()
		if err := <-done; err != nil {
			t.Fatalf("calling %s: %v", tool, err)
		}
		for _, c := range result.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text += c.Text
			}
		}
		return text, result.IsError
	}
}
