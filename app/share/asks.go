package share

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// cutOffTime is how long a tool call that Serena has cut off may go on at work: it
// does so outside the queue, where nobody sees it.
const cutOffTime = 10 * time.Minute

// works asks whether a Serena works although no request waits for it.
func works(ctx context.Context, l Look) (why string, err error) {
	const yes = "it works"
	port, dashboard := l.Server.DashboardPort(), serena.NewClient()
	if port == 0 {
		return "", nil // it has none; what was asked through us is known
	}
	tasks, err := dashboard.Queue(ctx, port)
	if err != nil || len(tasks) > 0 {
		return yes, err
	}
	last, err := dashboard.LastExecution(ctx, port)
	if err == nil && last.CutOff() && l.Quiet < cutOffTime {
		return yes, nil
	}
	return "", err
}

// direct says which program besides us is connected to a server, as a part of a
// sentence, "" when none is. Who knows the address of a shared server, which the
// page shows, can be its client without a lease.
func direct(_ context.Context, l Look) (who string, err error) {
	all, err := process.Connections(monitor.PortOf(l.Server.MCPURL())) // which says that 0 is no port
	if err != nil {
		return "", fmt.Errorf("looking who else is connected to it: %w", err)
	}
	for _, c := range all {
		switch c.PID {
		case os.Getpid():
		case 0: // in a container, on another machine behind a tunnel, or another user's
			return "a program that could not be found out is connected to it", nil
		default:
			name := "a program"
			if info, err := process.Read(c.PID); err == nil {
				name = monitor.Clean(monitor.Shorten(info.Name, programColumns))
			}
			return fmt.Sprintf("%s (%d) is connected to it", name, c.PID), nil
		}
	}
	return "", nil
}

// What a Serena with the interface REPL is asked, and what it answers when nothing
// would be lost with it. Source: serena/repl/repl.py of 2.1.0, where it is the same
// for a session that it does not know.
const (
	replTool  = "serena_repl"
	replCall  = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"serena_repl","arguments":{"session":%s,"code":"s.vars()"}}}`
	replEmpty = "No persisted variables."
)

// replTime is how long all of it may take: tools are run one after the other.
const replTime = 20 * time.Second

// holds says what would be lost with a server, of what its clients have in the memory
// of its REPL; "" when nothing would be.
func holds(ctx context.Context, l Look) (what string, err error) {
	ctx, cancel := context.WithTimeout(ctx, replTime)
	defer cancel()
	transport := mcp.NewTransport()
	defer transport.CloseIdleConnections()
	s, err := mcp.OpenOwn(ctx, mcp.Options{URL: l.Server.MCPURL(), Transport: transport})
	if err != nil {
		return "", fmt.Errorf("opening a session to ask for variables: %w", err)
	}
	defer s.Close(ctx)
	if l.Inherited {
		answer, err := s.Ask(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if wire.Split(answer).Result == nil || bytes.Contains(answer, []byte(strconv.Quote(replTool))) {
			return "it may hold variables of sessions from before lamplighter was started again", err
		}
	}
	for i, session := range l.Sessions {
		name, _ := json.Marshal(session) // of which nothing can fail
		answer, err := s.Ask(ctx, fmt.Appendf(nil, replCall, i+1, name))
		if err != nil {
			return "", fmt.Errorf("asking for variables: %w", err)
		}
		if empty, err := isEmpty(answer); !empty {
			return "it holds variables of the session " + strconv.Quote(monitor.Clean(monitor.Shorten(session, 40))), err
		}
	}
	return "", nil
}

// isEmpty reads the answer to replCall. Whatever is not surely empty is not.
func isEmpty(answer []byte) (bool, error) {
	m := wire.Split(answer)
	var result struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if m.Kind != wire.Response || json.Unmarshal(m.Result, &result) != nil || result.IsError {
		return false, fmt.Errorf("asking for variables: it answered %.200q", answer)
	}
	return len(result.Content) == 1 && result.Content[0].Text == replEmpty, nil
}
