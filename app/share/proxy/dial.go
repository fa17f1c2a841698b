package proxy

import (
	"context"
	"log/slog"

	"lamplighter/app/mcp"
	"lamplighter/app/share"
)

// dialer opens MCP sessions as mcp.Open does: dialerOf, or what tests make of it.
type dialer func(ctx context.Context, server share.Endpoint, receive func([]byte), initialize []byte) (upstreamSession, []byte, error)

// upstreamSession is what a session needs of an *mcp.Server.
type upstreamSession interface {
	Version() string
	Listen()
	Begin(ctx context.Context, line []byte, each func(line []byte), ended func(error)) (taken, done <-chan struct{})
	Close(ctx context.Context)
}

func dialerOf(log *slog.Logger) dialer {
	return func(ctx context.Context, server share.Endpoint, receive func([]byte), initialize []byte) (upstreamSession, []byte, error) {
		s, answer, err := mcp.Open(ctx, mcp.Options{URL: server.URL, Transport: server.Transport, Receive: receive, Log: log}, initialize)
		if s == nil || err != nil {
			return nil, answer, err
		}
		return s, answer, nil
	}
}
