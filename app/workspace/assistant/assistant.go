// Package assistant offers workspaces to coding assistants as the tools of an MCP
// server over standard input and output. Each tool does what the verb of its name
// does, with the same words for what stands against it.
//
// The protocol is spoken by github.com/modelcontextprotocol/go-sdk. Nothing but
// JSON-RPC is written to the output; what there is to tell besides goes to the log.
package assistant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// Manager is what the tools work with, a *workspace.Manager. Its methods are called
// from several goroutines at once.
type Manager interface {
	Create(ctx context.Context, q workspace.Request, progress func(workspace.Progress)) (workspace.Workspace, error)
	List(ctx context.Context) ([]workspace.Workspace, error)
	Find(ctx context.Context, name string) (workspace.Workspace, error)
	Keep(ctx context.Context, id, message string, progress func(workspace.Progress)) (workspace.Version, error)
	Versions(ctx context.Context, id string) ([]workspace.Version, error)
	Diff(ctx context.Context, id string, from, to int) ([]workspace.Change, error)
	Archive(ctx context.Context, id string, progress func(workspace.Progress)) (workspace.Workspace, error)
	Restore(ctx context.Context, id string, version int, progress func(workspace.Progress)) (workspace.Workspace, error)
	Complete(ctx context.Context, id, by string) (workspace.Outcome, error)
	Remove(ctx context.Context, id string, q workspace.Removal) (workspace.Outcome, error)
	Scan(ctx context.Context, dirs []string, progress func(found int, at string)) (workspace.Scanned, error)
	RemoveStale(ctx context.Context, path string, q workspace.Removal) (workspace.Outcome, error)
}

// Options are what a server works with. All but Log are needed.
type Options struct {
	Manager Manager
	Dir     string // relative paths in arguments are below it; absolute
	Version string
	In      io.ReadCloser // is closed at the end
	Out     io.Writer
	Log     *slog.Logger // nil: nothing is logged
}

// instructions are what an assistant is told of all of it at the start.
const instructions = `Gives each job a directory of its own, so that jobs that run at the same time do not disturb each other, and takes it away in time.
Make one with workspace_create before work that others must not see half done, work only below the path that it answers, and call workspace_complete when the job has ended.
Work that nobody has elsewhere is never lost: a removal that would lose something is refused and says what. Use force only when the user has agreed to lose exactly that.`

// Serve answers one client until its input ends, which is no error, or ctx does.
// What it is at work on is cancelled then, and has ended when Serve returns.
func Serve(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "lamplighter", Title: "Lamplighter workspaces", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       o.Log,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // and no logging: that goes to the log
	})
	if err := addTools(server, tools{manager: o.Manager, dir: o.Dir, every: progressEvery, log: o.Log}); err != nil {
		return err
	}
	server.AddReceivingMiddleware(until(ctx))
	// The connection outlives ctx, so that what is cancelled can answer.
	session, err := server.Connect(context.WithoutCancel(ctx), &mcp.IOTransport{Reader: o.In, Writer: unclosed{o.Out}}, nil)
	if err != nil {
		return fmt.Errorf("talking to the client: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		// Why it is closed is known. It waits for what is at work.
		_ = session.Close()
		<-ended
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("talking to the client: %w; it has to write one JSON-RPC message per line", err)
	}
	return nil
}

// until ends what is done for a request also when life ends: to close a connection
// waits for its requests, and cancels none.
func until(life context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			return next(ctx, method, req)
		}
	}
}

// unclosed is an output that others close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// mostOfName bounds what a client calls itself.
const mostOfName = 60

// client is what the other end calls itself, for histories.
func client(session *mcp.ServerSession) string {
	name := ""
	if params := session.InitializeParams(); params != nil && params.ClientInfo != nil {
		name = params.ClientInfo.Title
		if name == "" {
			name = params.ClientInfo.Name
		}
	}
	if name = monitor.Shorten(monitor.Clean(name), mostOfName); name == "" {
		name = "an assistant"
	}
	return name + ", over MCP"
}
