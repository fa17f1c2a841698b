package serenatest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// maxPost is the longest body that a server of Version takes over MCP.
const maxPost = 4 << 20

const (
	mcpPath       = "/mcp"
	sessionHeader = "Mcp-Session-Id"
)

// What stands behind a request that names a session which there is not, one with a body
// longer than maxPost, and one for another host.
const (
	unknownSession = ", unknown session"
	tooLong        = ", longer than 4 MiB"
	otherHost      = ", for another host"
)

// askOf is a request as transcripts have it: method and path, then what the
// answer depends on. Of a message of MCP that is its method, of a tool call its
// name and arguments as well; its id and what a client says of itself are not in it.
//
//	POST /get_memory {"memory_name":"first"}
//	POST /mcp tools/call {"arguments":{"relative_path":"."},"name":"list_dir"}
//	GET /mcp, unknown session
func askOf(r *http.Request, body []byte, knownSession bool) string {
	ask := r.Method + " " + r.URL.Path
	if host, _, err := net.SplitHostPort(r.Host); err != nil || host != "127.0.0.1" && host != "localhost" {
		return ask + otherHost
	}
	if r.URL.Path != mcpPath {
		return strings.TrimSpace(ask + " " + canonical(body))
	}
	var message struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(body, &message) // of no method then
	switch {
	case !knownSession && message.Method != "initialize":
		return ask + unknownSession
	case r.ContentLength > maxPost:
		return ask + tooLong
	case message.Method == "tools/call":
		return ask + " " + message.Method + " " + canonical(message.Params)
	}
	return strings.TrimSpace(ask + " " + message.Method)
}

// hello is what transcripts were begun with.
const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

// requestOf is the request that askOf names so, to a dashboard at one address and MCP
// at the other.
func requestOf(ask, dashboard, mcpURL, session string) (*http.Request, error) {
	plain, about := ask, ""
	for _, a := range []string{unknownSession, tooLong, otherHost} {
		if before, is := strings.CutSuffix(ask, a); is {
			plain, about = before, a
		}
	}
	method, rest, _ := strings.Cut(plain, " ")
	path, body, _ := strings.Cut(rest, " ")
	url := dashboard + path
	if path == mcpPath {
		url = mcpURL
		if method == http.MethodPost {
			body = message(cmp.Or(body, "ping"), about == tooLong)
		}
	}
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	switch about {
	case unknownSession:
		session = strings.Repeat("0", 32)
	case tooLong:
		r.Header.Set("Expect", "100-continue") // who refuses it ends the connection
	case otherHost:
		r.Host = "rebound.example"
	}
	if path == mcpPath && session != "" {
		r.Header.Set(sessionHeader, session)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	return r, nil
}

// message is one of MCP by its method and, if any, its parameters.
func message(text string, long bool) string {
	method, params, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(method, "notifications/"):
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method)
	case method == "initialize":
		params = hello
	case long:
		method, params = "tools/call", `{"name":"no_such_tool","arguments":{"text":"`+strings.Repeat("x", maxPost+1)+`"}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":6,"method":%q,"params":%s}`, method, cmp.Or(params, "{}"))
}
