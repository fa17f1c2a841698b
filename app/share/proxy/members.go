package proxy

import "encoding/json"

// members are what a session reads of the parameters, results and errors of MCP. What a
// message does not have is zero, and so is what has another type.
type members struct {
	// of initialize
	ProtocolVersion string
	ClientInfo      ClientInfo
	Capabilities    struct{ Roots json.RawMessage }

	RequestID  json.RawMessage // of notifications/cancelled
	NextCursor *string         // of a result that is one of several pages
	Cursor     json.RawMessage // of a request for one of them
	Tools      []struct{ Name string }
	Roots      []struct{ URI string }
	IsError    bool // of a tools/call

	Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
}

// readMembers is not ok when something of it has another type, or it is no object.
func readMembers(text []byte) (m members, ok bool) {
	err := json.Unmarshal(text, &m)
	return m, err == nil
}

// isGiven reports whether a member is there, and not null.
func isGiven(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// cacheKey is what the answer to an initialize depends on, besides the server: the
// version, and what the client can do, as it writes that. They are read as the server does:
// the case of names counts. It is "" when its parameters name no version: then nothing is
// answered from a cache.
func cacheKey(params []byte) string {
	var said map[string]json.RawMessage
	var version string
	if json.Unmarshal(params, &said) != nil || json.Unmarshal(said["protocolVersion"], &version) != nil || version == "" {
		return ""
	}
	return version + " " + string(said["capabilities"])
}

// isFirstPage reports whether a tools/list asks for no later page.
func isFirstPage(params []byte) bool {
	asked, ok := readMembers(params)
	return len(params) == 0 || ok && !isGiven(asked.Cursor)
}
