package serenatest

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
)

// maxPost is the longest body that a server of Version takes over MCP.
const maxPost = 4 << 20

// askOf is a request as transcripts have it: method and path, then what the
// answer depends on. Of a message of MCP that is its method, of a tool call its
// name and arguments as well; its id and what a client says of itself are not in it.
//
//	POST /get_memory {"memory_name":"first"}
//	POST /mcp tools/call {"arguments":{"relative_path":"."},"name":"list_dir"}
//	GET /mcp, unknown session
//
// About says what the server knows of the session that the request names, and ""
// when that is as it should be.
func askOf(r *http.Request, body []byte, about string) string {
	ask := r.Method + " " + r.URL.Path
	if host, _, err := net.SplitHostPort(r.Host); err != nil || host != "127.0.0.1" && host != "localhost" {
		return ask + otherHost
	}
	if r.URL.Path != mcpPath {
		if len(body) > 0 {
			ask += " " + canonical(body)
		}
		return ask
	}
	var message struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(body, &message) // of no method then
	switch {
	case message.Method == "initialize":
		return ask + " " + message.Method
	case about != "":
		return ask + ", " + about
	case len(body) > maxPost:
		return ask + tooLong
	case message.Method == "tools/call":
		return ask + " " + message.Method + " " + canonical(message.Params)
	case message.Method != "":
		return ask + " " + message.Method
	}
	return ask
}

const mcpPath = "/mcp"

// What askOf is told of a session.
const (
	unknownSession = "unknown session"
	secondStream   = "second stream of a session"
)

// What stands behind a request with a body longer than maxPost, and behind one for
// another host.
const (
	tooLong   = ", longer than 4 MiB"
	otherHost = ", for another host"
)

// canonical is a JSON value with its members sorted and no space, or the text
// itself when it is none.
func canonical(text []byte) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return string(text)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return string(text)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
