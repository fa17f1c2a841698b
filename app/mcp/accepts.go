package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// ownInitialize is the line of an initialize request of ours. Every server that speaks
// HTTP knows this version of the protocol, or answers with its own.
const ownInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":` +
	`{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"lamplighter","version":"1"}}}`

// Accepts asks a server whether it consents to a session of ours, which is ended then.
// Nothing else is sent: how it takes that is a matter of its clients.
func Accepts(ctx context.Context, o Options) error {
	s, err := openOurs(ctx, o)
	if err == nil {
		s.Close(ctx)
	}
	return err
}

// OpenOwn begins a session in which only we ask, ready for Ask. The caller closes it.
func OpenOwn(ctx context.Context, o Options) (*Server, error) {
	s, err := openOurs(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.Send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil); err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

// openOurs is Open with ownInitialize, to which the server has to consent.
func openOurs(ctx context.Context, o Options) (*Server, error) {
	s, answer, err := Open(ctx, o, []byte(ownInitialize))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, fmt.Errorf("it refused initialize: %s", cmp.Or(ErrorMessage(answer), "it does not say why"))
	case s.version == "":
		s.Close(ctx)
		return nil, errors.New("its answer to initialize names no version of the protocol")
	}
	return s, nil
}

// AcceptsSSE asks a server of the older transport, whose stream begins with where to send
// messages. None is sent: who tells that is ready for them. The session ends with the stream.
func AcceptsSSE(ctx context.Context, o Options) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	stream, err := s.openStream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	first := ""
	err = ReadEvents(stream, func(kind string, _ []byte) {
		first = cmp.Or(first, kind)
		hangUp()
	})
	switch {
	case first == "endpoint":
		return nil
	case first != "":
		return fmt.Errorf("its stream begins with %.40q instead of an endpoint", first)
	case err != nil:
		return failed(ctx, true, err)
	}
	return errors.New("it closed the stream without an endpoint")
}
