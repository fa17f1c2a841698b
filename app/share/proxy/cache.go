package proxy

import (
	"bytes"
	"encoding/json"
	"slices"
)

// listFromCache answers a tools/list without a server.
func (l *Session) listFromCache(it *item) bool {
	l.mu.Lock()
	under, params := l.under, it.Params
	l.mu.Unlock()
	if it.Method != "tools/list" || under == "" || !plainList(params) {
		return false
	}
	result, ok := l.o.Servers.Cached(it.Method, under)
	if ok {
		l.noteTools(result)
		l.tell(it, resultLine(it.ID, result))
	}
	return ok
}

// answerHung answers from memory what a server was asked before it was found to hang.
func (l *Session) answerHung(lk *link) {
	for _, it := range l.unanswered() {
		l.mu.Lock()
		asked := it.link == lk
		l.mu.Unlock()
		if asked {
			l.listFromCache(it)
		}
	}
}

// readInitialize reads what the client says of itself in the line of its
// initialize, and what the answer depends on: see cacheKey.
func readInitialize(params []byte) (info ClientInfo, under string) {
	var p struct {
		ClientInfo struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Title   string `json:"title"`
		} `json:"clientInfo"`
	}
	if json.Unmarshal(params, &p) == nil {
		info = ClientInfo(p.ClientInfo)
	}
	return info, cacheKey(params)
}

// cacheKey is what the answer to an initialize depends on, besides the server:
// the version of the protocol and the capabilities of the client, in one form
// whatever the order and the spaces. It is "" when there is anything else in the
// parameters but the name of the client: then nothing is answered from a cache.
func cacheKey(params []byte) string {
	var p map[string]any
	d := json.NewDecoder(bytes.NewReader(params))
	d.UseNumber()
	if d.Decode(&p) != nil {
		return ""
	}
	for name := range p {
		if !slices.Contains([]string{"protocolVersion", "capabilities", "clientInfo"}, name) {
			return ""
		}
	}
	if _, ok := p["protocolVersion"].(string); !ok {
		return ""
	}
	delete(p, "clientInfo")
	key, err := json.Marshal(p) // sorts the names
	if err != nil {
		return ""
	}
	return string(key)
}

// plainList reports whether a tools/list asks for the first page and nothing else.
func plainList(params []byte) bool {
	if params == nil {
		return true
	}
	var p map[string]json.RawMessage
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	for name, value := range p {
		if name != "_meta" && (name != "cursor" || string(value) != "null") {
			return false
		}
	}
	return true
}

// hasMore reports whether a result is one of several pages.
func hasMore(result []byte) bool {
	var p struct {
		NextCursor *string `json:"nextCursor"`
	}
	return json.Unmarshal(result, &p) != nil || p.NextCursor != nil
}

// protocolOf is the version of the protocol in the result of an initialize.
func protocolOf(result []byte) string {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &p) != nil {
		return ""
	}
	return p.ProtocolVersion
}
