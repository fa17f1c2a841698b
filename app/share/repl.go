package share

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// What a Serena with the interface REPL is asked, and what it answers when nothing
// would be lost with it. Source: serena/repl/repl.py of 2.1.0, where it is the same
// for a session that it does not know.
const (
	replTool  = "serena_repl"
	replCode  = "s.vars()"
	replEmpty = "No persisted variables."
)

// replTime is how long all of it may take: tools are run one after the other.
const replTime = 20 * time.Second

// repl asks servers what their clients have in their memory.
type repl struct{ log *slog.Logger }

// holds says what would be lost with the server, "" when nothing would be.
func (r repl) holds(ctx context.Context, server Server, sessions []string, inherited bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, replTime)
	defer cancel()
	transport := mcp.NewTransport()
	defer transport.CloseIdleConnections()
	s, err := mcp.OpenOwn(ctx, mcp.Options{URL: server.MCPURL(), Transport: transport, Log: r.log})
	if err != nil {
		return "", fmt.Errorf("opening a session to ask for variables: %w", err)
	}
	defer s.Close(ctx)
	if inherited {
		switch answer, err := s.Ask(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)); {
		case err != nil:
			return "", fmt.Errorf("asking for variables: %w", err)
		case wire.Split(answer).Result == nil || bytes.Contains(answer, []byte(strconv.Quote(replTool))):
			return "it may hold variables of sessions from before lamplighter was started again", nil
		}
	}
	for i, session := range sessions {
		line, err := replCall(i+1, session)
		if err != nil {
			return "", err
		}
		answer, err := s.Ask(ctx, line)
		if err != nil {
			return "", fmt.Errorf("asking for variables: %w", err)
		}
		empty, err := isEmpty(answer)
		if err != nil {
			return "", err
		}
		if !empty {
			return "it holds variables of the session " + strconv.Quote(monitor.Clean(monitor.Shorten(session, 40))), nil
		}
	}
	return "", nil
}

// replCall is the request for the variables of a session.
func replCall(id int, session string) ([]byte, error) {
	type arguments struct {
		Session string `json:"session"`
		Code    string `json:"code"`
	}
	type params struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	}
	return json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", id, "tools/call", params{replTool, arguments{session, replCode}}})
}

// isEmpty reads the answer to replCall. Whatever is not surely empty is not.
func isEmpty(answer []byte) (bool, error) {
	m := wire.Split(answer)
	if m.Kind != wire.Response || m.Result == nil {
		return false, fmt.Errorf("asking for variables: it answered %.200q", answer)
	}
	var result struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	switch err := json.Unmarshal(m.Result, &result); {
	case err != nil:
		return false, errors.Join(fmt.Errorf("asking for variables: it answered %.200q", answer), err)
	case result.IsError:
		return false, fmt.Errorf("asking for variables: it answered with an error: %.200q", answer)
	}
	return len(result.Content) == 1 && result.Content[0].Text == replEmpty, nil
}
