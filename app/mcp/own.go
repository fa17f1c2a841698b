package mcp

import (
	"context"
	"fmt"

	"lamplighter/app/share/wire"
)

// OpenOwn begins a session in which only we ask, ready for Ask. The caller closes it.
func OpenOwn(ctx context.Context, o Options) (*Server, error) {
	s, answer, err := Open(ctx, o, []byte(Hello))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, fmt.Errorf("it answered %.200q", answer)
	}
	if err := s.Send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil); err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

// Ask sends a request and returns the line of its response, nil when none came. The
// error is as with Send.
func (s *Server) Ask(ctx context.Context, request []byte) (response []byte, err error) {
	err = s.Send(ctx, request, func(line []byte) {
		if wire.Split(line).Kind == wire.Response {
			response = line
		}
	})
	return response, err
}
