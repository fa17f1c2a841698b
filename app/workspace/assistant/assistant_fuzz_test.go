package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// FuzzServe: whatever an assistant writes, the server ends with its input and has
// written nothing but messages of JSON-RPC, one a line.
func FuzzServe(f *testing.F) {
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for _, seed := range []string{
		"", "\n\n", "{", "null\n", "[]\n", begin,
		begin + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n",
		begin + `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"workspace_create","arguments":{"kind":"temp","job":"j","retention_seconds":18446744074}}}` + "\n",
		begin + `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"workspace_remove","arguments":{"workspace":"w","force":"true"}}}` + "\n",
		begin + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workspace_diff","arguments":{"workspace":"none","from":-1}}}` + "\n{",
		begin + `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]` + "\n",
		begin + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}` + "\n\xff\x00\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var wrote apptest.Buffer
		fake := &fake{made: example()}
		err := Serve(ctx, Options{Manager: fake, Dir: here, Version: "1", In: io.NopCloser(strings.NewReader(input)), Out: &wrote})
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q does not end", input)
		}
		for line := range strings.Lines(wrote.String()) {
			if !isMessage(line) {
				t.Errorf("%q is no message", line)
			}
		}
		for _, asked := range fake.asked {
			if strings.Contains(asked, "Force:true") && !strings.Contains(input, "true") {
				t.Errorf("%q: %s", input, asked)
			}
		}
	})
}

// isMessage reports whether a line is a message of JSON-RPC, or the answers to
// several that were sent together.
func isMessage(line string) bool {
	type message struct {
		Version string `json:"jsonrpc"`
	}
	var one message
	if json.Unmarshal([]byte(line), &one) == nil {
		return strings.HasSuffix(line, "\n") && one.Version == "2.0"
	}
	var all []message
	err := json.Unmarshal([]byte(line), &all)
	return err == nil && strings.HasSuffix(line, "\n") && len(all) > 0 && !slices.ContainsFunc(all, func(m message) bool { return m.Version != "2.0" })
}
