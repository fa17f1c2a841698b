package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// restartTool is the tool by which Serena starts its language servers again, which few
// contexts list.
const restartTool = "restart_language_server"

// restartTime is how long that tool may take.
const restartTime = time.Minute

// languageServers starts the language servers of a Serena again.
type languageServers struct {
	ladder *stop.Ladder
	record func(monitor.Event)
}

// Restart does what works: it ends what runs, which Serena starts again with the next
// call. After a failed start nothing runs, and only Serena's own tool helps. The detail
// and the error are sentences for people.
func (l *languageServers) Restart(ctx context.Context, in monitor.Instance, o stop.Order) (detail string, err error) {
	if p := in.Problem; p != nil && p.Kind == monitor.StartFailed {
		err = l.byTool(ctx, &in)
		detail = "Serena has started them again by its own tool"
	} else {
		var ended string
		ended, err = l.ladder.EndLanguageServers(ctx, in, o)
		detail = "ended " + ended + "; Serena starts it again with the next call"
	}
	switch {
	case errors.Is(err, stop.ErrNoLanguageServer):
		return "", errors.New(in.Label() + " runs no language server now; Serena starts one with the next call")
	case err != nil:
		return "", fmt.Errorf("restarting the language server of %s: %w", in.Label(), err)
	}
	l.record(in.Event(monitor.EventLanguageServer, time.Now(), "by "+monitor.Clean(o.By)+": "+detail))
	return monitor.Sentence(in.Label() + ": " + detail), nil
}

// byTool calls Serena's own tool, where it is listed.
func (l *languageServers) byTool(ctx context.Context, in *monitor.Instance) error {
	why := errors.New("it could not start, and Serena has no tool here that starts it again, so only a restart of the server helps. " + strings.Join(view.Of(in).Words.Loses, " "))
	if in.MCPURL == "" {
		return why
	}
	ctx, cancel := context.WithTimeout(ctx, restartTime)
	defer cancel()
	transport := mcp.NewTransport()
	defer transport.CloseIdleConnections()
	s, err := mcp.OpenOwn(ctx, mcp.Options{URL: in.MCPURL, Transport: transport})
	if err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	defer s.Close(ctx)
	answer, err := s.Ask(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		return fmt.Errorf("asking for its tools: %w", err)
	}
	if !bytes.Contains(answer, []byte(strconv.Quote(restartTool))) {
		return why
	}
	answer, err = s.Ask(ctx, []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+restartTool+`","arguments":{}}}`))
	if err != nil {
		return fmt.Errorf("calling %s: %w", restartTool, err)
	}
	return toolError(answer)
}

// toolError is what a tool's answer says of a failure. Serena 1.5 says so in its text
// alone.
func toolError(answer []byte) error {
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	m := wire.Split(answer)
	if m.Kind != wire.Response || m.Result == nil || json.Unmarshal(m.Result, &result) != nil {
		return fmt.Errorf("%s answered %.200q", restartTool, answer)
	}
	text := ""
	for _, c := range result.Content {
		text += c.Text
	}
	if result.IsError || strings.HasPrefix(text, "Error") {
		return fmt.Errorf("%s failed: %s", restartTool, monitor.Shorten(monitor.Clean(text), 200))
	}
	return nil
}
