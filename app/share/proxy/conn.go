package proxy

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"time"

	"lamplighter/app/share"
	"lamplighter/app/share/wire"
	"lamplighter/app/socket"
	"lamplighter/monitor"
)

// connection is that of one shim.
type connection struct {
	*Server
	conn net.Conn
	in   *bufio.Reader
	out  *outlet
	log  *slog.Logger

	greeting wire.Greeting
	who      monitor.Client
	known    bool     // who is a program that people know by its name
	warnings []string // about its flags
}

// attend serves one connection to its end, or to that of ctx.
func (server *Server) attend(ctx context.Context, conn net.Conn) {
	c := &connection{Server: server, conn: conn, in: bufio.NewReaderSize(conn, bufferLength), out: newOutlet(conn), log: server.options.Log}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	greeting, err := c.hello()
	switch {
	case err == nil:
		err = c.out.write(wire.Heard, 0, nil) // it does not know yet whether we are suspended
	case ctx.Err() != nil:
	case errors.Is(err, io.EOF): // somebody looks whether we are there
		c.log.Debug("a client went away at once")
	default:
		c.refused.log(c.log, slog.LevelInfo, "refused a client", "error", err)
	}
	if err != nil {
		return
	}
	pid, err := socket.PeerPID(conn)
	if err != nil {
		c.log.Debug("who connects cannot be told", "error", err)
	}
	c.greeting, c.warnings = greeting, server.options.Flags(greeting.Flags)
	c.who, c.known = clientOf(pid)
	c.log = c.log.With("client", shown(c.who.Name), "pid", c.who.PID)
	c.serve(ctx, share.Request{
		Dir: greeting.Dir, Command: greeting.Command, Env: greeting.Env, Moved: greeting.Moved, Project: greeting.Project,
		PID: pid, Outside: err == nil && pid == 0 && runtime.GOOS == "linux", // others do not count processes in several ways
	})
}

// hello reads what the shim says of itself.
func (c *connection) hello() (wire.Greeting, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(c.options.Limits.Hello))
	h, payload, err := nextFrame(c.in)
	if err == nil && h.Type != wire.Hello {
		err = unexpected(h)
	}
	if err != nil {
		return wire.Greeting{}, fmt.Errorf("it does not say what it wants: %w", err)
	}
	version, greeting, err := wire.ParseHello(payload)
	switch {
	case err != nil:
		return greeting, fmt.Errorf("what it wants cannot be read: %w", err)
	case version != wire.Version:
		_ = c.conn.SetWriteDeadline(time.Now().Add(c.options.Limits.Hello))
		_ = c.out.bye(otherVersion(version, greeting.Program))
		return greeting, fmt.Errorf("it speaks version %d of the protocol, not %d", version, wire.Version)
	}
	return greeting, c.conn.SetReadDeadline(time.Time{})
}

// otherVersion says what to do about a shim of another protocol; program is its
// version, "" when it does not say.
func otherVersion(version int, program string) string {
	shim := strings.TrimSpace("this lamplighter-connect " + program)
	if version > wire.Version {
		return fmt.Sprintf("%s is newer than the lamplighter that runs (protocol %d, not %d): restart lamplighter", shim, version, wire.Version)
	}
	return fmt.Sprintf("%s is older than the lamplighter that runs (protocol %d, not %d): name that of the same installation in the client's settings, "+
		"and start the MCP server again", shim, version, wire.Version)
}

// serve decides how the client is served, and does it.
func (c *connection) serve(ctx context.Context, wish share.Request) {
	plan, err := c.options.Ask.Plan(ctx, wish)
	if err == nil && plan.Alone != "" && wish.Project != "" {
		wish.Project = "" // its directory was removed since, for example: it may activate another one
		plan, err = c.options.Ask.Plan(ctx, wish)
	}
	switch {
	case ctx.Err() != nil:
	case c.greeting.Own != "" || err == nil && plan.Alone != "":
		c.alone(plan.Alone, wish)
	case err != nil:
		c.log.Info("a client cannot be served", "error", err)
		_ = c.out.bye(err.Error()) // its shim answers what it asks first with that
	default:
		c.share(ctx, wish, plan)
	}
}

// read gives each frame of the shim to take, to the end of the connection or an error of
// take, and returns why it ended.
func (c *connection) read(take func(h wire.Header, payload []byte) error) error {
	for {
		h, payload, err := nextFrame(c.in)
		if err == nil {
			err = take(h, payload)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, wire.ErrFrame):
			c.garbled.log(c.log, slog.LevelWarn, "ended the connection of a client that sends what no lamplighter-connect does", "error", err)
		case !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed):
			c.log.Debug("the connection of a client was lost", "error", err)
		}
		return err
	}
}

// welcome says how the client is served, and what is wrong with its flags. That it cannot be
// said is found by who reads then: the connection is closed.
func (c *connection) welcome(mode wire.WelcomeMode, why string) {
	_ = c.out.write(wire.Welcome, 0, append([]byte{byte(mode)}, shown(why)...))
	for _, text := range c.warnings {
		_ = c.out.write(wire.Say, 0, []byte(shown(text)))
	}
}

// share serves a client with a server that others may have too.
func (c *connection) share(ctx context.Context, wish share.Request, plan share.Plan) {
	o := SessionOptions{
		Out: c.out, Initialize: c.greeting.Initialize, Initialized: c.greeting.Initialized, Log: c.log, Limits: c.options.Limits,
		Plan: func(ctx context.Context, project string) (share.Plan, error) {
			w := wish
			w.Moved, w.Project = true, project
			return c.options.Ask.Plan(ctx, w)
		},
	}
	session, member := attach(c.options.Broker, plan, c.who, c.known, o)
	defer member.Detach()
	c.welcome(wire.Shared, "")
	var last uint64 // number of the last line
	take := func(h wire.Header, payload []byte) error {
		switch {
		case h.Type != wire.Line && h.Type != wire.Long:
			return unexpected(h)
		case h.Seq <= last: // it could be carried out twice
			return fmt.Errorf("%w: line %d after line %d", wire.ErrFrame, h.Seq, last)
		case h.Type == wire.Line:
			session.Take(h.Seq, payload)
		default:
			session.TakeLong(h.Seq, payload)
		}
		last = h.Seq
		return nil
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = session.Serve(ctx) }) // whose end is that of the connection
	err := c.read(take)
	session.Gone()
	serving.Wait()
	if errors.Is(err, wire.ErrFrame) { // which is told last: the shim reads nothing more
		_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second))
		_ = c.out.bye("lamplighter does not understand this lamplighter-connect; start the MCP server again: " + err.Error())
	}
}

// unexpected is the error of a frame that is not to come here.
func unexpected(h wire.Header) error {
	return fmt.Errorf("%w that is to come here: %q", wire.ErrFrame, h.Type)
}

// alone serves a client whose server cannot be shared: its shim runs that, and
// the connection says that it is here.
func (c *connection) alone(why string, wish share.Request) {
	why = cmp.Or(why, "it could not be shared when it was started")
	show, detach := c.options.Broker.AttachUnshared(c.who, why, wish)
	defer detach()
	ran := func(text string) { // "" where it could not be started
		server, err := monitor.ParseIdentity(text)
		if err != nil && text != "" {
			c.log.Info("a client does not say which process its server is", "error", err)
		}
		show(server)
	}
	ran(c.greeting.Own)
	c.welcome(wire.Own, why)
	_ = c.read(func(h wire.Header, payload []byte) error { // which tells why it ended
		if h.Type != wire.Ran {
			return unexpected(h)
		}
		ran(string(payload))
		return nil
	})
}
